/**
 * Changes of sandboxes for those who follow them: each written row is read once, a moment after its write, and goes to
 * the followers of its owner.
 *
 * Invariant: while nobody follows, a write costs nothing. A follower sees the newest row after each change, and not every
 * row in between.
 */
import { limits } from '../../model/limits.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import { ownerIdOf, type User } from '../../model/user.ts';
import type { Log, SandboxStore } from '../ports/index.ts';

export interface Follower {
  changed(sandbox: Sandbox): void;
  /** The sandbox was deleted. */
  gone(id: string): void;
  /** Changes may have been missed: all sandboxes are to be listed again. */
  refresh(): void;
}

export interface SandboxEventsDependencies {
  store: Pick<SandboxStore, 'reread' | 'names'>;
  log: Log;
  /** Adds what no row has: unflushed activity, the reason for a pause. */
  seen(sandbox: Sandbox): Sandbox;
}

interface Followed {
  followers: Set<Follower>;
  /** Sandboxes of the owner: a deleted row names its owner no more. */
  known: Set<string>;
}

export class SandboxEvents {
  readonly #deps: SandboxEventsDependencies;
  readonly #owners = new Map<string, Followed>();
  /** Sandboxes whose rows are to be read. */
  #written = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #reading: Promise<void> = Promise.resolve();

  constructor(dependencies: SandboxEventsDependencies) {
    this.#deps = dependencies;
  }

  /** Notes a committed write of the sandbox's row. */
  wrote(id: string): void {
    if (this.#owners.size === 0) return;
    this.#written.add(id);
    this.#timer ??= setTimeout(() => this.#gathered(), limits.events.gatherMs);
  }

  /** Writes may have gone unnoticed. */
  missed(): void {
    for (const { followers } of this.#owners.values()) for (const follower of followers) follower.refresh();
  }

  /**
   * Follows the sandboxes of the user, or of the team that the user acts for: whatever changes after this promise has resolved.
   * @returns Ends it.
   */
  async follow(caller: Pick<User, 'id' | 'team'>, follower: Follower): Promise<() => void> {
    const id = ownerIdOf(caller);
    const followed = this.#owners.get(id) ?? { followers: new Set(), known: new Set() };
    this.#owners.set(id, followed);
    followed.followers.add(follower);
    const end = () => {
      followed.followers.delete(follower);
      if (followed.followers.size === 0 && this.#owners.get(id) === followed) this.#owners.delete(id);
    };
    try {
      for (const { id: sandbox } of await this.#deps.store.names(id, limits.events.known))
        followed.known.add(sandbox);
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }

  /** Resolves when what was written so far has been sent. */
  async close(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#owners.clear();
    await this.#reading;
  }

  #gathered(): void {
    this.#timer = null;
    const written = this.#written;
    this.#written = new Set();
    this.#reading = this.#reading.then(() => this.#readAll(written));
  }

  async #readAll(written: Set<string>): Promise<void> {
    for (const id of written) {
      if (this.#owners.size === 0) return;
      try {
        this.#tell(id, await this.#deps.store.reread(id));
      } catch (error) {
        this.#deps.log.warn('a changed sandbox could not be read for those who follow it', {
          sandbox: id,
          error,
        });
        this.missed();
        return;
      }
    }
  }

  #tell(id: string, row: Sandbox | null): void {
    // One that is being created, or whose creation failed, is not there for its owner.
    const isVisible = row !== null && row.operation !== 'creating';
    const owner = isVisible ? row.ownerId : null;
    for (const [user, followed] of this.#owners) {
      if (user === owner) continue;
      if (followed.known.delete(id)) for (const follower of followed.followers) follower.gone(id);
    }
    const followed = owner === null ? undefined : this.#owners.get(owner);
    if (!followed || !isVisible) return;
    if (followed.known.size < limits.events.known) followed.known.add(id);
    const sandbox = this.#deps.seen(row);
    for (const follower of followed.followers) follower.changed(sandbox);
  }
}
