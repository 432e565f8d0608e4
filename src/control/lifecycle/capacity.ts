/** Room on the host: for one more running machine, and for the space that disks promise. */
import { SandhavenError } from '../../model/errors.ts';
import { GiB, limits } from '../../model/limits.ts';
import type { Resources } from '../../model/sandbox.ts';
import type { Runtime, SandboxStore } from '../ports/index.ts';

/**
 * Throws `resource_exhausted` without room. Sizes are ceilings and may be overcommitted, so only free capacity counts.
 */
export async function assertRoomToStart(runtime: Runtime, resources: Resources): Promise<void> {
  const capacity = await runtime.capacity();
  if (resources.gpu > capacity.freeGpus) {
    throw exhausted(
      `${resources.gpu} GPUs were asked for; of ${capacity.gpus} on this host, ${capacity.freeGpus} are free.`,
      capacity.gpus < resources.gpu
        ? 'Ask for fewer GPUs.'
        : 'Ask for fewer GPUs, or stop a sandbox that has some.',
    );
  }
  if (capacity.freeSlots <= 0) {
    throw exhausted(
      'No slot for another running sandbox is free.',
      'Stop or delete a sandbox, then try again.',
    );
  }
  if (capacity.freeMemoryBytes < capacity.reserveMemoryBytes) {
    throw exhausted(
      `Memory is short: ${gib(capacity.freeMemoryBytes)} GiB are free, and ${gib(capacity.reserveMemoryBytes)} GiB are kept in reserve.`,
      'Stop or delete a sandbox, then try again.',
    );
  }
  if (capacity.freeDiskBytes < capacity.reserveDiskBytes) {
    throw exhausted(
      `Disk space is short: ${gib(capacity.freeDiskBytes)} GiB are free, and ${gib(capacity.reserveDiskBytes)} GiB are kept in reserve.`,
      'Archive or delete a sandbox, then try again.',
    );
  }
}

function exhausted(detail: string, hint: string): SandhavenError {
  return new SandhavenError('resource_exhausted', detail, { hint, retryable: true });
}

function gib(bytes: number): string {
  return (bytes / GiB).toFixed(1);
}

/**
 * Bound on promised disk space. Disks are thin, so together they may promise more than the host has. The engine
 * watches their real use. Archived sandboxes have no disk.
 */
interface DiskPromiseDependencies {
  store: Pick<SandboxStore, 'promisedDiskGb'>;
  runtime: Pick<Runtime, 'capacity'>;
  /** Promised GB of all disks together, for each free GB. */
  overcommit: number;
}

export class DiskPromises {
  readonly #deps: DiskPromiseDependencies;

  constructor(dependencies: DiskPromiseDependencies) {
    this.#deps = dependencies;
  }

  /**
   * Rejects with `resource_exhausted` when a disk of this size, or all disks with it, would promise too much.
   * @param beforeGb The disk's present size.
   */
  async assertRoomFor(diskGb: number, beforeGb = 0): Promise<void> {
    const { store, runtime, overcommit } = this.#deps;
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
