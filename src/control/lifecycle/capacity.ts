/** Admission of one more running machine on the host. */
import { SandhavenError } from '../../model/errors.ts';
import { GiB } from '../../model/limits.ts';
import type { Resources } from '../../model/sandbox.ts';
import type { Runtime } from '../ports/index.ts';

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
