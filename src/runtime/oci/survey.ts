/** Survey of this host: the state of each sandbox and the free capacity, read each time, never remembered. */
import { readdir, stat } from 'node:fs/promises';
import { mapBounded } from '../../concurrency/in-portions.ts';
import type { Observed, Runtime } from '../../control/ports/index.ts';
import { sandboxIdPattern } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Gpus } from './gpu/gpus.ts';
import { unlessMissing } from './host/files.ts';
import type { Layout } from './host/layout.ts';
import { diskSpace, type Memory, memoryForMachines } from './host/room.ts';
import { checkId } from './host/work.ts';
import type { Machines } from './machine/running.ts';
import type { Slots } from './network/slots-port.ts';

export interface Survey extends Pick<Runtime, 'observe' | 'inspect' | 'capacity'> {
  /** Every sandbox with any trace. */
  ids(): Promise<string[]>;
}

export interface SurveyDependencies {
  machines: Machines;
  slots: Slots;
  gpus: Gpus;
  /** Reads the host's memory. */
  memory(): Memory;
}

/** Sandboxes inspected at once. Each opens a few files; a thousand would exceed this process's limit. */
const AT_ONCE = 16;

export function createSurvey(layout: Layout, { machines, slots, gpus, memory }: SurveyDependencies): Survey {
  async function ids(): Promise<string[]> {
    const [folders, traces, held] = await Promise.all([
      readdir(layout.sandboxes),
      machines.traces(),
      slots.held(),
    ]);
    return [...new Set([...folders.filter((name) => sandboxIdPattern.test(name)), ...traces, ...held])];
  }

  async function look(id: string): Promise<Observed> {
    const [machine, disk, archive, note] = await Promise.all([
      machines.running(id),
      unlessMissing(stat(layout.disk(id))),
      unlessMissing(stat(layout.archive(id))),
      unlessMissing(stat(layout.archiveNote(id))),
    ]);
    const hasArchive = archive !== null || note !== null;
    const runningGeneration = machine?.generation ?? null;
    return { id, runningGeneration, hasDisk: disk !== null, hasArchive };
  }

  return {
    ids,
    async observe() {
      return mapBounded(await ids(), AT_ONCE, look);
    },

    async inspect(id) {
      checkId(id);
      return (await unlessMissing(stat(layout.sandbox(id)))) && look(id);
    },

    async capacity() {
      const [{ totalBytes, availableBytes }, disk, held, counted] = await Promise.all([
        memory(),
        diskSpace(layout.sandboxes),
        slots.held(),
        gpus.count(),
      ]);
      return {
        freeMemoryBytes: availableBytes,
        freeDiskBytes: disk.freeBytes,
        reserveMemoryBytes: totalBytes - memoryForMachines(totalBytes),
        reserveDiskBytes: limits.hostReserveDiskBytes,
        freeSlots: slots.free(),
        host: { memoryBytes: totalBytes, diskBytes: disk.totalBytes, usedSlots: held.length },
        ...counted,
      };
    },
  };
}
