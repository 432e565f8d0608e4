/**
 * Health of the service for admins who follow it, each few seconds, with the figures of this process.
 *
 * Invariant: one look serves all viewers, the next one begins a pause after its end, and without a viewer there is neither
 * look nor timer. Who is an admin no more gets nothing more.
 */
import { limits } from '../../model/limits.ts';
import type { Role } from '../../model/user.ts';
import type { Log } from '../ports/index.ts';
import type { Health, HealthService } from './health.ts';

export interface HealthViewer {
  health(health: Health): void;
}

export interface HealthEventsDependencies {
  health: Pick<HealthService, 'glance'>;
  /** Resolves to the user's present role. */
  roleOf(userId: string): Promise<Role>;
  log: Log;
}

export class HealthEvents {
  readonly #deps: HealthEventsDependencies;
  /** By user. */
  readonly #viewers = new Map<string, Set<HealthViewer>>();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isLooking = false;
  /** Of the last look, for viewers who come before the next. */
  #newest: Health | null = null;
  #isFailing = false;

  constructor(dependencies: HealthEventsDependencies) {
    this.#deps = dependencies;
  }

  /**
   * Shows the health to the viewer: the last look's at once, or that of a look that begins now.
   * @param user An admin.
   * @returns Ends it.
   */
  view({ id }: { id: string }, viewer: HealthViewer): () => void {
    const viewers = this.#viewers.get(id) ?? new Set();
    this.#viewers.set(id, viewers.add(viewer));
    if (this.#newest) viewer.health(this.#newest);
    else if (!this.#isLooking && !this.#timer) void this.#look();
    return () => {
      viewers.delete(viewer);
      if (viewers.size === 0 && this.#viewers.get(id) === viewers) this.#leave(id);
    };
  }

  /** A look under way goes on, and shows its end to nobody. */
  close(): void {
    this.#viewers.clear();
    this.#rest();
  }

  #leave(id: string): void {
    this.#viewers.delete(id);
    if (this.#viewers.size === 0) this.#rest();
  }

  #rest(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#newest = null;
  }

  async #look(): Promise<void> {
    this.#timer = null;
    this.#isLooking = true;
    try {
      const health = await this.#deps.health.glance();
      for (const id of [...this.#viewers.keys()]) await this.#show(id, health);
      this.#newest = health;
      this.#isFailing = false;
    } catch (error) {
      this.#newest = null;
      this.#failed(error);
    }
    this.#isLooking = false;
    if (this.#viewers.size === 0) this.#rest();
    else this.#timer = setTimeout(() => void this.#look(), limits.health.eventMs);
  }

  async #show(id: string, health: Health): Promise<void> {
    if ((await this.#deps.roleOf(id)) !== 'admin') {
      this.#leave(id);
      return;
    }
    for (const viewer of this.#viewers.get(id) ?? []) viewer.health(health);
  }

  /** Logs the first failure of a row. */
  #failed(error: unknown): void {
    if (this.#isFailing || this.#viewers.size === 0) return;
    this.#isFailing = true;
    this.#deps.log.warn('the health could not be looked at for those who follow it', { error });
  }
}
