/** Disks and archives of stopped machines: the storage part of the runtime port. */
import type { Runtime } from '../../../control/ports/index.ts';
import { SandhavenError } from '../../../model/errors.ts';
import type { Archives } from '../disk/archives.ts';
import type { Disks } from '../disk/disks.ts';
import type { Work } from '../host/work.ts';
import type { Machines } from '../machine/running.ts';

type Storage = Pick<Runtime, 'growDisk' | 'archive' | 'dropDisk' | 'restore' | 'dropArchive'>;

interface Dependencies {
  whileStopped: WhileStopped;
  disks: Disks;
  archives: Archives;
  work: Work;
}

/** Acts in the sandbox's turn, with no machine on its disk. Clears the remains of a killed start first. */
export type WhileStopped = ReturnType<typeof createWhileStopped>;

export function createWhileStopped({ machines, work }: { machines: Machines; work: Work }) {
  return <T>(
    id: string,
    what: string,
    act: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> => {
    const guarded = async (either: AbortSignal): Promise<T> => {
      if (await machines.running(id)) {
        const hint = 'Stop the sandbox first.';
        throw new SandhavenError('unavailable', 'The machine still runs.', { hint });
      }
      await machines.clear(id);
      return act(either);
    };
    return work.inTurn(id, what, guarded, signal);
  };
}

export function createStorage({ whileStopped, disks, archives, work }: Dependencies): Storage {
  return {
    growDisk: (id, diskGb) => whileStopped(id, 'The disk could not be grown.', () => disks.grow(id, diskGb)),

    dropDisk: (id) => whileStopped(id, 'The disk could not be removed.', () => disks.remove(id)),

    archive: (id, _generation, options) =>
      whileStopped(
        id,
        'The sandbox could not be archived.',
        (signal) => archives.write(id, signal),
        options?.signal,
      ),

    restore: ({ id }, _generation, record, options) =>
      whileStopped(
        id,
        'The sandbox could not be restored.',
        (signal) => archives.restore(id, record, { signal }),
        options?.signal,
      ),

    dropArchive: (id) => work.inTurn(id, 'The archive could not be removed.', () => archives.remove(id)),
  };
}
