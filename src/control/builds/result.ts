/** The snapshot that a build makes: the disk of its last step, and the settings that its Dockerfile gives. */
import { invalidArgument, SandhavenError } from '../../model/errors.ts';
import { newBuildId, newSnapshotId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Resources } from '../../model/sandbox.ts';
import { isBuilt, type Snapshot } from '../../model/snapshot.ts';
import { ownerIdOf, type User } from '../../model/user.ts';
import type { Quotas } from '../callers/quotas.ts';
import type { Captures } from '../lifecycle/capture.ts';
import type { SnapshotEvents } from '../live/snapshot-events.ts';
import type { Clock, Log, SnapshotStore } from '../ports/index.ts';
import type { Base } from './base.ts';

export interface BuiltDependencies {
  snapshots: SnapshotStore;
  captures: Captures;
  events: Pick<SnapshotEvents, 'changed' | 'gone'>;
  quotas: Pick<Quotas, 'allowance'>;
  regionId: string;
  clock: Clock;
  log: Pick<Log, 'warn'>;
}

/** Throws `already_exists` for a snapshot that was not built: a build takes the place of its own kind alone. */
export function assertReplaceable(earlier: Snapshot | null): void {
  if (earlier === null || isBuilt(earlier) || earlier.state === 'error') return;
  throw new SandhavenError(
    'already_exists',
    `There is a snapshot named '${earlier.name}', which no build has made.`,
    {
      parameter: 'name',
      hint: `Choose another name, or delete it first: sandhaven snapshot rm '${earlier.name}'`,
    },
  );
}

/**
 * Stores the snapshot with a disk of its own; resolves once it is active. The earlier one of this name goes in the same
 * transaction: at every moment there is one of them, whole.
 */
export async function keepBuilt(
  { snapshots, captures, events, quotas, regionId, clock, log }: BuiltDependencies,
  caller: User,
  { name, file, resources: sizes }: { name: string; file: string; resources?: Partial<Resources> },
  { image, reference, captureId, resources, network, settings }: Base,
): Promise<Snapshot> {
  const { disks } = captures;
  const owner = ownerIdOf(caller);
  const now = clock.now();
  const { env, workdir, user } = settings;
  const id = newSnapshotId();
  const entrypoint = entrypointOf(settings);
  const snapshot: Snapshot = {
    ...{
      id,
      ownerId: owner,
      name,
      state: 'pending',
      stateReason: null,
      image: reference,
      imageDigest: image.digest,
    },
    ...{
      entrypoint,
      resources: { ...resources, ...sizes, disk: Math.max(resources.disk, sizes?.disk ?? 0) },
      regionId,
      sizeBytes: image.sizeBytes,
      creationKey: null,
    },
    ...{ createdAt: now, updatedAt: now, network, user },
    imageConfig: {
      env: Object.fromEntries(env),
      workdir,
      entrypoint: settings.entrypoint,
      cmd: settings.cmd,
    },
    source: captureId === null ? null : { id: newBuildId(), name: file },
  };
  if (captureId !== null) snapshot.sizeBytes = (await disks.copy(captureId, id)).sizeBytes;
  let isStored = false;
  try {
    const earlier = await snapshots.find(owner, name);
    assertReplaceable(earlier);
    await snapshots.insert(snapshot, await quotas.allowance(owner), earlier?.id);
    isStored = true;
    disks.release(id);
    const active = await snapshots.update(id, { state: 'active', updatedAt: clock.now() });
    if (earlier) await removed(earlier);
    if (!active)
      throw new SandhavenError('not_found', 'The snapshot was deleted while it was built.', {
        resource: 'snapshot',
      });
    events.changed(active);
    return active;
  } catch (error) {
    if (!isStored && captureId !== null) await dropped(id);
    throw error;
  }

  async function removed(earlier: Snapshot): Promise<void> {
    events.gone(earlier);
    if (earlier.source !== null) await dropped(earlier.id);
  }

  /** Never rejects: without a row, the disk is collected. */
  async function dropped(disk: string): Promise<void> {
    await disks.drop(disk).catch((error: unknown) => {
      log.warn('the disk of a snapshot could not be dropped; it is collected later', {
        snapshot: disk,
        error,
      });
    });
  }
}

/** ENTRYPOINT with CMD behind it, of this Dockerfile and those that it begins with; null for none. */
function entrypointOf({ entrypoint, cmd }: Base['settings']): string[] | null {
  const words = [...(entrypoint ?? []), ...(cmd ?? [])];
  const bytes = words.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0);
  const { entrypointWords, entrypointBytes } = limits.snapshot;
  if (words.length > entrypointWords || bytes > entrypointBytes)
    throw invalidArgument(
      'file',
      `ENTRYPOINT and CMD have more than ${entrypointWords} words or ${entrypointBytes} bytes.`,
      'Put them into a script.',
    );
  return words.length === 0 ? null : words;
}
