/** Snapshots of sandboxes: the disk of one as it was at a moment, over its image, with its settings. */
import type { Unfinished } from '../../concurrency/unfinished.ts';
import { notFound } from '../../model/errors.ts';
import { newSnapshotId, randomText } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import { ownerIdOf, type User } from '../../model/user.ts';
import type { Quotas } from '../callers/quotas.ts';
import type { Captures } from '../lifecycle/capture.ts';
import type { SnapshotEvents } from '../live/snapshot-events.ts';
import type { CapturedDisks, Clock, Runtime, SandboxStore, SnapshotStore } from '../ports/index.ts';
import { resolveSandbox } from '../turns/resolve.ts';
import { assertNotReserved, assertRoomForSnapshot } from './snapshots.ts';

export interface SandboxSnapshotDependencies {
  store: SnapshotStore;
  sandboxes: Pick<SandboxStore, 'find' | 'names'>;
  runtime: Pick<Runtime, 'usage'>;
  captures: Captures;
  events: Pick<SnapshotEvents, 'changed' | 'gone'>;
  quotas: Pick<Quotas, 'allowance'>;
  unfinished: Pick<Unfinished, 'attempt'>;
  clock: Clock;
}

export class SandboxSnapshots {
  readonly #deps: SandboxSnapshotDependencies;

  constructor(dependencies: SandboxSnapshotDependencies) {
    this.#deps = dependencies;
  }

  /**
   * Takes a snapshot of a sandbox, started, stopped or archived; resolves once it is active. A failure leaves no snapshot.
   * Rejects with `already_exists` for a name that is taken, `resource_exhausted` by the quota or without room on the host's
   * disk, `invalid_state` for a sandbox in error.
   * @param name By default the sandbox's with some letters.
   */
  async take(caller: User, reference: string | undefined, name?: string): Promise<Snapshot> {
    const { store, sandboxes, runtime, captures } = this.#deps;
    const { disks } = captures;
    if (name !== undefined) assertNotReserved(name);
    await assertRoomForSnapshot(store, ownerIdOf(caller));
    const source = await resolveSandbox(sandboxes, caller, reference);
    const { diskBytes } = await runtime.usage(source.id);
    const id = newSnapshotId();
    let inserted: Snapshot | null = null;
    try {
      const insert = async (sandbox: Sandbox) => {
        const sizeBytes = diskBytes ?? sandbox.archive?.sizeBytes ?? 0;
        inserted = await this.#insert(caller, sandbox, { id, name, sizeBytes });
      };
      const { sizeBytes } = await captures.take(source, id, insert);
      const active = await store.update(id, {
        state: 'active',
        sizeBytes,
        updatedAt: this.#deps.clock.now(),
      });
      if (!active) throw deletedMeanwhile();
      this.#deps.events.changed(active);
      return active;
    } catch (error) {
      if (inserted !== null) await this.#remove(inserted, disks);
      throw error;
    }
  }

  async #insert(
    caller: User,
    sandbox: Sandbox,
    { id, name, sizeBytes }: { id: string; name: string | undefined; sizeBytes: number },
  ): Promise<Snapshot> {
    const { store, quotas, events, clock } = this.#deps;
    const now = clock.now();
    const { image, imageDigest, entrypoint, resources, regionId, network, user, imageConfig } = sandbox;
    const snapshot: Snapshot = {
      id,
      ownerId: ownerIdOf(caller),
      name: name ?? `${sandbox.name.slice(0, limits.sandboxNameChars - 7)}-${randomText(6)}`,
      state: 'pending',
      stateReason: null,
      ...{ image, imageDigest, entrypoint, resources, regionId, sizeBytes, network, user, imageConfig },
      creationKey: null,
      createdAt: now,
      updatedAt: now,
      source: { id: sandbox.id, name: sandbox.name },
    };
    await store.insert(snapshot, await quotas.allowance(ownerIdOf(caller)));
    events.changed(snapshot);
    return snapshot;
  }

  /** Repeated until it succeeds. The row goes first: a disk without one is collected. */
  async #remove(snapshot: Snapshot, disks: CapturedDisks): Promise<void> {
    const { store, events, unfinished } = this.#deps;
    const remove = async (): Promise<void> => {
      await store.delete(snapshot.id);
      events.gone(snapshot);
      await disks.drop(snapshot.id);
    };
    await unfinished.attempt(`remove ${snapshot.id}`, remove);
  }
}

function deletedMeanwhile() {
  return notFound('snapshot', 'The snapshot was deleted while it was taken.', 'Take another one.');
}
