/** When a host has no room for another running sandbox. */
import { describe, expect, it } from 'vitest';
import { assertRoomToStart } from '../../src/control/lifecycle/capacity.ts';
import type { Runtime } from '../../src/control/ports/index.ts';

const GiB = 1024 ** 3;

type Capacity = Awaited<ReturnType<Runtime['capacity']>>;

const roomy: Capacity = {
  gpus: 2,
  freeGpus: 1,
  freeSlots: 1,
  freeMemoryBytes: 4 * GiB,
  reserveMemoryBytes: 4 * GiB,
  freeDiskBytes: 10 * GiB,
  reserveDiskBytes: 10 * GiB,
};

const start = (changed: Partial<Capacity>, gpu = 1) =>
  assertRoomToStart({ capacity: async () => ({ ...roomy, ...changed }) } as unknown as Runtime, {
    cpu: 1,
    memory: 1,
    disk: 1,
    gpu,
  });

describe('a sandbox is started', () => {
  it('while just the reserves, one slot and its GPUs are free', async () => {
    await expect(start({})).resolves.toBeUndefined();
  });

  it.each([
    [
      { freeMemoryBytes: 4 * GiB - 1 },
      /^Memory is short: 4\.0 GiB are free, and 4\.0 GiB are kept in reserve\.$/,
    ],
    [
      { freeDiskBytes: 9.5 * GiB },
      /^Disk space is short: 9\.5 GiB are free, and 10\.0 GiB are kept in reserve\.$/,
    ],
    [{ freeSlots: 0 }, /^No slot for another running sandbox is free\.$/],
    [{ freeGpus: 0 }, /^1 GPUs were asked for; of 2 on this host, 0 are free\.$/],
  ])('and not with %o', async (changed, detail) => {
    const refusal = start(changed);
    await expect(refusal).rejects.toThrow(detail);
    await expect(refusal).rejects.toMatchObject({ code: 'resource_exhausted', fields: { retryable: true } });
  });

  it('only with fewer GPUs where it has more than the host', async () => {
    const ask = (gpus: number) => start({ freeGpus: 0, gpus }, 2);
    await expect(ask(1)).rejects.toMatchObject({ fields: { hint: 'Ask for fewer GPUs.' } });
    const orStop = { fields: { hint: 'Ask for fewer GPUs, or stop a sandbox that has some.' } };
    await expect(ask(2)).rejects.toMatchObject(orStop);
  });
});
