/** When unused images go: after a while, and at once when the disk is short. */
import { describe, expect, it } from 'vitest';
import { ImageCollector } from '../../src/control/images/collector.ts';
import type { Images } from '../../src/control/ports/index.ts';
import { createAlone } from '../../src/store/rows/alone.ts';

const log = { info() {}, warn() {}, error() {} };
const HOUR = 3_600_000;

/** Named at each collection of captured disks. */
const collected: string[][] = [];
/** Free bytes, each time that the host was short of them. */
const shrunk: number[] = [];

function collectorWith(freeDiskBytes: () => number, collect: Images['collect']): ImageCollector {
  const capacity = async () => ({
    freeMemoryBytes: 0,
    freeDiskBytes: freeDiskBytes(),
    reserveMemoryBytes: 0,
    reserveDiskBytes: 100,
    freeSlots: 0,
    gpus: 0,
    freeGpus: 0,
  });
  return new ImageCollector({
    replicas: createAlone(),
    onShort: async () => void shrunk.push(freeDiskBytes()),
    store: { imagesInUse: async () => new Set(['used']), withDisks: async () => new Set(['snap_kept']) },
    images: { collect },
    runtime: {
      capacity,
      captures: {
        capture: async () => ({ sizeBytes: 0 }),
        stage: async () => {},
        putBack: async () => {},
        copy: async () => ({ sizeBytes: 0 }),
        release: () => {},
        sizeOf: async () => null,
        drop: async () => {},
        collect: async (named) => void collected.push([...(await named())]),
      },
    },
    clock: { now: () => 10 * HOUR },
    log,
    keptMs: 2 * HOUR,
    intervalMs: HOUR,
  });
}

describe('the collector of images', () => {
  it('has the disks collected that no snapshot names', async () => {
    collected.length = 0;
    await collectorWith(
      () => 1_000,
      async () => [],
    ).turn();
    expect(collected).toEqual([['snap_kept']]);
  });

  it('takes those that were unused for long, and all of them when the disk is short of space', async () => {
    let free = 1_000;
    const asked: { unusedSince: number; thoroughly?: boolean }[] = [];
    const collector = collectorWith(
      () => free,
      async ({ inUse, ...request }) => {
        expect(await inUse()).toEqual(new Set(['used']));
        asked.push(request);
        return [];
      },
    );
    await collector.turn();
    free = 99;
    await collector.turn();
    expect(asked).toEqual([
      { unusedSince: 8 * HOUR, thoroughly: false },
      { unusedSince: 10 * HOUR, thoroughly: true },
    ]);
    expect(shrunk).toEqual([99]);
  });

  it('does one turn at a time, and outlives one that fails', async () => {
    let turns = 0;
    const collector = collectorWith(
      () => 1_000,
      async () => {
        turns++;
        throw new Error('no');
      },
    );
    await Promise.all([collector.turn(), collector.turn()]);
    expect(turns).toBe(1);
    await collector.turn();
    expect(turns).toBe(2);
    await collector.close();
  });
});
