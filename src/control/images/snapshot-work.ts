/**
 * Makes snapshots in the background: from `pending` over `pulling` to `active` or `error`. Unfinished snapshots of an
 * earlier process are in one of the first two states, and the next process resumes them.
 */

import type { Unfinished } from '../../concurrency/unfinished.ts';
import { FairQueue } from '../../fairness/fair-queue.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import type { SnapshotEvents } from '../live/snapshot-events.ts';
import type {
  Clock,
  Images,
  Log,
  OnProgress,
  Replicas,
  Runtime,
  SnapshotPatch,
  SnapshotStore,
} from '../ports/index.ts';

export interface SnapshotWorkDependencies {
  store: SnapshotStore;
  images: Images;
  runtime: Pick<Runtime, 'captures'>;
  replicas: Pick<Replicas, 'shared' | 'isMine'>;
  unfinished: Pick<Unfinished, 'add'>;
  events: Pick<SnapshotEvents, 'changed' | 'progress'>;
  clock: Clock;
  log: Log;
}

export class SnapshotWork {
  readonly #deps: SnapshotWorkDependencies;
  /** Bounds the queue of an owner by the unfinished snapshots that one may have. */
  readonly #turns = new FairQueue({
    ...limits.shares.snapshots,
    waiting: limits.snapshot.unfinished,
    what: 'snapshots are being made',
  });
  readonly #running = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  /** Controllers of unfinished snapshots, by id. */
  readonly #breaks = new Map<string, AbortController>();

  constructor(dependencies: SnapshotWorkDependencies) {
    this.#deps = dependencies;
  }

  /** Resumes the unfinished snapshots of an earlier process, or of a replica that is gone. */
  async resume(): Promise<void> {
    const { store, replicas, clock } = this.#deps;
    for (const snapshot of await store.unfinished()) {
      // A clock that was set back makes it look new for long.
      const isOld = Math.abs(clock.now() - snapshot.updatedAt) >= limits.replicas.leaseMs;
      const isLeft = !replicas.shared || (isOld && replicas.isMine(snapshot.id));
      if (isLeft && !this.#breaks.has(snapshot.id)) this.begin(snapshot);
    }
  }

  /** Queues the work and returns at once. Owners take turns, and each has a share of the slots. */
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

  /** Cancels the work on a snapshot whose row is gone; does nothing for a finished one. */
  breakOff(id: string): void {
    this.#breaks.get(id)?.abort();
  }

  /** Cancels all work; rows stay as they are. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#running);
  }

  async #inTurn(snapshot: Snapshot, signal: AbortSignal): Promise<void> {
    const { unfinished, log } = this.#deps;
    const { id, ownerId } = snapshot;
    try {
      const done = await this.#turns.take(ownerId, 1, signal);
      await this.#make(snapshot, signal).finally(done);
    } catch (error) {
      if (signal.aborted) return;
      log.warn('snapshot could not be made', { snapshot: id, error });
      const mark = () => this.#save(id, { state: 'error', stateReason: reasonOf(error) });
      await mark().catch((cause: unknown) => {
        log.error('snapshot could not be marked', { snapshot: id, error: cause });
        unfinished.add(`mark ${id}`, mark);
      });
    }
  }

  async #make(snapshot: Snapshot, signal: AbortSignal): Promise<void> {
    const { images, events, log } = this.#deps;
    const { id, image: reference, ownerId } = snapshot;
    if (snapshot.source !== null) return this.#settleDisk(snapshot);
    if (!(await this.#save(id, { state: 'pulling' }))) return;
    await images.use(
      { reference },
      async ({ digest, sizeBytes }) => {
        // Saved while the image is in use, so that it cannot be collected before the row is committed.
        const patch = { state: 'active', stateReason: null, imageDigest: digest, sizeBytes } as const;
        if (await this.#save(id, patch)) log.info('snapshot is active', { snapshot: id, digest });
      },
      { signal, owner: ownerId, onProgress: this.#paced((progress) => events.progress(snapshot, progress)) },
    );
  }

  /** Of a service that was killed meanwhile: the disk is whole, or there is none, and its moment has passed. */
  async #settleDisk({ id }: Snapshot): Promise<void> {
    const { captures } = this.#deps.runtime;
    const sizeBytes = (await captures?.sizeOf(id)) ?? null;
    if (sizeBytes !== null) {
      await this.#save(id, { state: 'active', stateReason: null, sizeBytes });
      return;
    }
    await captures?.drop(id);
    throw new SandhavenError('unavailable', 'The service ended before the disk was captured.', {
      hint: 'Delete the snapshot, and take another one.',
    });
  }

  /** Passes progress on with a pause between two; drops what comes meanwhile. */
  #paced(pass: OnProgress): OnProgress {
    let passedAt = Number.NEGATIVE_INFINITY;
    return (progress) => {
      const now = this.#deps.clock.now();
      if (now - passedAt < limits.events.progressPauseMs) return;
      passedAt = now;
      pass(progress);
    };
  }

  async #save(id: string, patch: SnapshotPatch): Promise<Snapshot | null> {
    const saved = await this.#deps.store.update(id, { ...patch, updatedAt: this.#deps.clock.now() });
    if (saved) this.#deps.events.changed(saved);
    return saved;
  }
}

/** Returns the text for `state_reason`; private causes stay in the log. */
function reasonOf(error: unknown): string {
  if (!(error instanceof SandhavenError)) return 'The engine failed; the log of the service has the cause.';
  const { hint } = error.fields;
  return (hint ? `${error.message} ${hint}` : error.message).slice(0, limits.snapshot.reasonChars);
}
