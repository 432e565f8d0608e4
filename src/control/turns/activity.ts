/**
 * Last activity of each sandbox, kept in memory and flushed every few seconds, so that a command costs no commit. A
 * sandbox in use is never idle.
 */
import { limits } from '../../model/limits.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import type { Clock, SandboxStore } from '../ports/index.ts';

export class Activity {
  readonly #clock: Clock;
  readonly #store: Pick<SandboxStore, 'touch'>;
  readonly #othersAsk: boolean;
  readonly #last = new Map<string, number>();
  readonly #unflushed = new Map<string, number>();
  readonly #uses = new Map<string, number>();

  /** @param othersAsk Whether other replicas read the stored times. */
  constructor(clock: Clock, store: Pick<SandboxStore, 'touch'>, othersAsk = false) {
    this.#clock = clock;
    this.#store = store;
    this.#othersAsk = othersAsk;
  }

  /** Counts a use from now until the returned function is called. */
  begin(id: string): () => void {
    this.#uses.set(id, this.uses(id) + 1);
    this.#touch(id);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      const left = this.uses(id) - 1;
      if (left > 0) this.#uses.set(id, left);
      else this.#uses.delete(id);
      this.#touch(id);
    };
  }

  /**
   * Stores the use that begins where another replica may be about to stop the sandbox for want of one. Uses before that
   * time are stored by the flush before their deadline comes. Returns true when it did.
   */
  async announce({ id, autoStopMinutes, lastActivityAt }: Sandbox): Promise<boolean> {
    if (!this.#othersAsk || autoStopMinutes === 0) return false;
    const now = this.#clock.now();
    if (now < lastActivityAt + autoStopMinutes * 60_000 - limits.replicas.activityKnownMs) return false;
    await this.#store.touch(new Map([[id, now]]));
    return true;
  }

  /** Records activity until `at`, in ms since the epoch, that this process did not see. */
  note(id: string, at: number): void {
    if (at <= this.last(id, 0)) return;
    this.#last.set(id, at);
    this.#unflushed.set(id, at);
  }

  uses(id: string): number {
    return this.#uses.get(id) ?? 0;
  }

  /** Returns the later of the stored and the remembered time, in ms since the epoch. */
  last(id: string, storedMs: number): number {
    return Math.max(storedMs, this.#last.get(id) ?? 0);
  }

  async flush(): Promise<void> {
    // Other replicas know a use that lasts only by its time.
    if (this.#othersAsk) for (const id of this.#uses.keys()) this.#touch(id);
    if (this.#unflushed.size === 0) return;
    const batch = new Map(this.#unflushed);
    this.#unflushed.clear();
    try {
      await this.#store.touch(batch);
    } catch (error) {
      for (const [id, at] of batch) if (this.#last.has(id)) this.#unflushed.set(id, this.last(id, at));
      throw error;
    }
  }

  forget(id: string): void {
    this.#last.delete(id);
    this.#unflushed.delete(id);
  }

  #touch(id: string): void {
    const now = this.#clock.now();
    this.#last.set(id, now);
    this.#unflushed.set(id, now);
  }
}
