/**
 * Makes snapshots in the background: from `pending` over `pulling` to `active` or `error`. What a service that ended
 * had begun is in one of the first two states, and is taken up by the next.
 */
import { SandhavenError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { Shares } from '../model/shares.ts';
import type { Snapshot } from '../model/snapshot.ts';
import type { Clock, Images, Log, SnapshotPatch, SnapshotStore } from './ports.ts';

export interface SnapshotWorkDependencies {
  store: SnapshotStore;
  images: Images;
  clock: Clock;
  log: Log;
}

export class SnapshotWork {
  readonly #d: SnapshotWorkDependencies;
  /** Of each owner; the one who is served next comes first. */
  readonly #waiting = new Map<string, Snapshot[]>();
  readonly #running = new Set<Promise<void>>();
  readonly #shares = new Shares({ ...limits.shares.snapshots, what: 'snapshots are being made' });
  readonly #closing = new AbortController();
  /** Of those that are being made, by id. */
  readonly #breaks = new Map<string, AbortController>();

  constructor(dependencies: SnapshotWorkDependencies) {
    this.#d = dependencies;
  }

  /** Takes up what an earlier service left. Called once. */
  async resume(): Promise<void> {
    for (const snapshot of await this.#d.store.unfinished()) this.begin(snapshot);
  }

  /** In its turn: owners take turns, and each has some of his made at once. Returns at once. */
  begin(snapshot: Snapshot): void {
    const own = this.#waiting.get(snapshot.ownerId) ?? [];
    own.push(snapshot);
    this.#waiting.set(snapshot.ownerId, own);
    this.#fill();
  }

  /** Of one whose row is gone. Does nothing for one that is not being made. */
  breakOff(id: string): void {
    for (const own of this.#waiting.values()) {
      const at = own.findIndex((snapshot) => snapshot.id === id);
      if (at !== -1) own.splice(at, 1);
    }
    this.#breaks.get(id)?.abort();
  }

  /** Breaks off what is being made; the rows stay as they are. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#waiting.clear();
    await Promise.all(this.#running);
  }

  #fill(): void {
    for (const [owner, own] of [...this.#waiting]) {
      if (this.#closing.signal.aborted || this.#shares.total >= limits.shares.snapshots.total) return;
      if (this.#shares.of(owner) >= limits.shares.snapshots.perOwner) continue;
      const next = own.shift();
      this.#waiting.delete(owner);
      if (own.length > 0) this.#waiting.set(owner, own);
      // All of an owner's may have been broken off.
      if (!next) continue;
      const done = this.#shares.take(owner);
      const running = this.#make(next).finally(() => {
        this.#running.delete(running);
        done();
        this.#fill();
      });
      this.#running.add(running);
    }
  }

  async #make(snapshot: Snapshot): Promise<void> {
    const { images, log } = this.#d;
    const { id, image: reference } = snapshot;
    const broken = new AbortController();
    this.#breaks.set(id, broken);
    const signal = AbortSignal.any([this.#closing.signal, broken.signal]);
    try {
      if (!(await this.#save(id, { state: 'pulling' }))) return;
      await images.use(
        { reference },
        async ({ digest, sizeBytes }) => {
          // While it is in use here, so that it cannot be collected before this is committed.
          const patch = { state: 'active', stateReason: null, imageDigest: digest, sizeBytes } as const;
          if (await this.#save(id, patch)) log.info('snapshot is active', { snapshot: id, digest });
        },
        { signal, owner: snapshot.ownerId },
      );
    } catch (error) {
      if (signal.aborted) return;
      log.warn('snapshot could not be made', { snapshot: id, error });
      await this.#save(id, { state: 'error', stateReason: reasonOf(error) }).catch((cause: unknown) => {
        log.error('snapshot could not be marked', { snapshot: id, error: cause });
      });
    } finally {
      this.#breaks.delete(id);
    }
  }

  #save(id: string, patch: SnapshotPatch): Promise<Snapshot | null> {
    return this.#d.store.update(id, { ...patch, updatedAt: this.#d.clock.now() });
  }
}

/** For people who read `state_reason`; what is private stays in the log. */
function reasonOf(error: unknown): string {
  if (!(error instanceof SandhavenError)) return 'The engine failed; the log of the service has the cause.';
  const { hint } = error.fields;
  return (hint ? `${error.message} ${hint}` : error.message).slice(0, limits.snapshot.reasonChars);
}
