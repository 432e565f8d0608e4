import { describe, expect, it } from 'vitest';
import { DiskPromises } from '../../src/control/lifecycle/capacity.ts';
import type { Capacity } from '../../src/control/ports/index.ts';

const GiB = 1024 ** 3;

function room(freeGb: number, promisedGb: number, overcommit = 100): DiskPromises {
  const capacity = { freeDiskBytes: (freeGb + 4) * GiB, reserveDiskBytes: 4 * GiB } as Capacity;
  return new DiskPromises({
    store: { promisedDiskGb: async () => promisedGb },
    runtime: { capacity: async () => capacity },
    overcommit,
  });
}

const exhausted = (detail: string) =>
  expect.objectContaining({
    code: 'resource_exhausted',
    message: expect.stringContaining(detail),
    fields: expect.objectContaining({ retryable: true }),
  });

describe('a disk', () => {
  it('of 200 GB is refused where 43 GB are free, and the error shows the most there may be', async () => {
    await expect(room(43, 0).assertRoomFor(200)).rejects.toEqual(
      exhausted(
        'A disk of 200 GB was asked for, and 43.0 GB are free for sandboxes: a disk may have at most 172 GB now.',
      ),
    );
    await expect(room(43, 0).assertRoomFor(172)).resolves.toBeUndefined();
    await expect(room(72, 0).assertRoomFor(200)).resolves.toBeUndefined();
  });

  it('of 1 GB is the least that is offered where little is free, and what is offered can be had', async () => {
    await expect(room(0.2, 0).assertRoomFor(2)).rejects.toEqual(exhausted('at most 1 GB now.'));
    await expect(room(0.2, 0).assertRoomFor(1)).resolves.toBeUndefined();
  });

  it('counts no less than nothing as free where the reserve is not there', async () => {
    await expect(room(-2, 0).assertRoomFor(2)).rejects.toEqual(exhausted('and 0.0 GB are free'));
  });

  it('is refused when all of them together would promise more than the factor allows', async () => {
    await expect(room(10, 990).assertRoomFor(10)).resolves.toBeUndefined();
    await expect(room(10, 991).assertRoomFor(10)).rejects.toEqual(
      exhausted('10.0 GB are free for sandboxes'),
    );
    await expect(room(10, 15, 2).assertRoomFor(10)).rejects.toEqual(exhausted('2 times the free space'));
  });

  it('counts by its growth alone when it grows', async () => {
    await expect(room(10, 995).assertRoomFor(10, 5)).resolves.toBeUndefined();
    await expect(room(10, 996).assertRoomFor(10, 5)).rejects.toEqual(exhausted('is the bound'));
  });
});
