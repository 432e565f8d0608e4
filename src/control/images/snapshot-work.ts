/**
 * Makes snapshots in the background: from `pending` over `pulling` to `active` or `error`. What a service that ended
 * had begun is in one of the first two states, and is taken up by the next.
 */

import { FairQueue } from '../../fairness/fair-queue.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import type { Clock, Images, Log, SnapshotPatch, SnapshotStore } from '../ports/index.ts';

export interface SnapshotWorkDependencies {
  store: SnapshotStore;
  images: Images;
  clock: Clock;
  log: Log;
}

export class SnapshotWork {
  readonly #d: SnapshotWorkDependencies;
  /** More of one owner than may be unfinished never wait. */
  readonly #turns = new FairQueue({
    ...limits.shares.snapshots,
    waiting: limits.snapshot.unfinished,
    what: 'snapshots are being made',
  });
  readonly #running = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  /** Of those that wait or are being made, by id. */
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
    const broken = new AbortController();
    this.#breaks.set(snapshot.id, broken);
    const signal = AbortSignal.any([this.#closing.signal, broken.signal]);
    const running = this.#inTurn(snapshot, signal).finally(() => {
      this.#breaks.delete(snapshot.id);
      this.#running.delete(running);
    });
    this.#running.add(running);
  }

  /** Of one whose row is gone. Does nothing for one that is finished. */
  breakOff(id: string): void {
    this.#breaks.get(id)?.abort();
  }

  /** Breaks off what is being made; the rows stay as they are. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#running);
  }

  async #inTurn(snapshot: Snapshot, signal: AbortSignal): Promise<void> {
    const { log } = this.#d;
    const { id, ownerId } = snapshot;
    try {
      const done = await this.#turns.take(ownerId, 1, signal);
      await this.#make(snapshot, signal).finally(done);
    } catch (error) {
      if (signal.aborted) return;
      log.warn('snapshot could not be made', { snapshot: id, error });
      await this.#save(id, { state: 'error', stateReason: reasonOf(error) }).catch((cause: unknown) => {
        log.error('snapshot could not be marked', { snapshot: id, error: cause });
      });
    }
  }

  async #make({ id, image: reference, ownerId }: Snapshot, signal: AbortSignal): Promise<void> {
    const { images, log } = this.#d;
    if (!(await this.#save(id, { state: 'pulling' }))) return;
    await images.use(
      { reference },
      async ({ digest, sizeBytes }) => {
        // While it is in use here, so that it cannot be collected before this is committed.
        const patch = { state: 'active', stateReason: null, imageDigest: digest, sizeBytes } as const;
        if (await this.#save(id, patch)) log.info('snapshot is active', { snapshot: id, digest });
      },
      { signal, owner: ownerId },
    );
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
