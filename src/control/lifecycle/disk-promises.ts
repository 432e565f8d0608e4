/**
 * Bound on promised disk space. Disks are thin, so together they may promise more than the host has. The engine watches
 * their real use. Archived sandboxes have no disk.
 */
import { SandhavenError } from '../../model/errors.ts';
import { GiB, limits } from '../../model/limits.ts';
import type { Runtime, SandboxStore } from '../ports/index.ts';

export interface DiskPromiseDependencies {
  store: Pick<SandboxStore, 'promisedDiskGb'>;
  runtime: Pick<Runtime, 'capacity'>;
  /** Promised GB of all disks together, for each free GB. */
  overcommit: number;
}

export class DiskPromises {
  readonly #d: DiskPromiseDependencies;

  constructor(dependencies: DiskPromiseDependencies) {
    this.#d = dependencies;
  }

  /**
   * Rejects with `resource_exhausted` when a disk of this size, or all disks with it, would promise too much.
   * @param beforeGb The disk's present size.
   */
  async assertRoomFor(diskGb: number, beforeGb = 0): Promise<void> {
    const { store, runtime, overcommit } = this.#d;
    const { freeDiskBytes, reserveDiskBytes } = await runtime.capacity();
    const freeGb = Math.max(0, (freeDiskBytes - reserveDiskBytes) / GiB);
    const largest = Math.max(limits.diskGb.min, Math.floor(limits.disk.promisedPerFree * freeGb));
    if (diskGb > largest) {
      throw exhausted(
        `A disk of ${diskGb} GB was asked for, and ${freeGb.toFixed(1)} GB are free for sandboxes: a disk may have at most ${largest} GB now.`,
        'Ask for a smaller disk, or ask the operator for room.',
      );
    }
    const promised = await store.promisedDiskGb();
    if (promised + diskGb - beforeGb > overcommit * freeGb) {
      throw exhausted(
        `${freeGb.toFixed(1)} GB are free for sandboxes, and their disks may grow to ${promised} GB already; ${overcommit} times the free space is the bound.`,
        'Archive or delete sandboxes, or ask for a smaller disk; the operator sets the bound with --disk-overcommit.',
      );
    }
  }
}

function exhausted(detail: string, hint: string): SandhavenError {
  return new SandhavenError('resource_exhausted', detail, { hint, retryable: true });
}
