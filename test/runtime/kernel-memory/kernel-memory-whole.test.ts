/** Many machines below their own bounds, which together hold too much of what the kernel counts for nobody. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Holding } from '../../../src/runtime/oci/kernel-memory/holdings.ts';
import {
  createKernelMemoryWatch,
  type KernelMemoryWatch,
} from '../../../src/runtime/oci/kernel-memory/watch.ts';

const MiB = 1024 * 1024;
const nothing: Holding = { netlinkBytes: 0, unacceptedBytes: 0, openFiles: 0, unreadBytes: 0 };
let available: number;
let machines: Record<string, Partial<Holding> & { locks?: number }>;
let ended: string[];
let asked: boolean[];
let measured: string[];
/** Processor time by machine; null where it is not known. */
let used: Record<string, number>;
let usedOfAll: number | null;
let usesRead: string[];
let watch: KernelMemoryWatch;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  machines = {};
  ended = [];
  asked = [];
  used = {};
  usedOfAll = null;
  usesRead = [];
  available = 4_096 * MiB;
  watch = createKernelMemoryWatch({
    cgroups: {
      present: async () => Object.keys(machines),
      endPrograms: async (id) => {
        ended.push(id);
        machines[id] = {};
      },
    },
    holdings: async (ids, exactly, isIdle) => {
      asked.push(exactly);
      measured = ids.filter((id) => !isIdle(id));
      return {
        machines: new Map(measured.map((id) => [id, { ...nothing, ...machines[id] }])),
        // Counted meanwhile, whoever is looked at now.
        locks: new Map(Object.entries(machines).map(([id, { locks = 0 }]) => [id, locks])),
      };
    },
    owners: { of: (id) => id.split('-')[0] ?? id },
    usedMs(id) {
      usesRead.push(id);
      return used[id] ?? null;
    },
    usedMsOfAll: () => usedOfAll,
    availableBytes: () => available,
    log: { info() {}, warn() {}, error() {} },
  });
});

afterEach(async () => {
  await watch.close();
  vi.useRealTimers();
});

/** One look, a second after the last. */
async function look(): Promise<void> {
  const looks = asked.length;
  vi.advanceTimersByTime(1_000);
  await vi.waitFor(() => expect(asked.length).toBe(looks + 1), 10_000);
  await watch.close();
}

it('those of the owner who holds most end, and no more of them than needed', async () => {
  for (let i = 0; i < 50; i++) machines[`mallory-${i}`] = { netlinkBytes: 100 * MiB };
  machines['alice-0'] = { unacceptedBytes: 120 * MiB };
  machines['bob-0'] = { locks: 19_000 };
  watch.begin(1_024 * MiB);
  await look();
  expect(ended).toHaveLength(41);
  expect(ended.filter((id) => !id.startsWith('mallory-'))).toEqual([]);
});

it('of one owner the largest ends first', async () => {
  machines = { 'a-0': { netlinkBytes: 40 * MiB }, 'a-1': { locks: 15_000, netlinkBytes: 39 * MiB } };
  watch.begin(64 * MiB);
  await look();
  expect(ended).toEqual(['a-1']);
});

it('nobody ends for what may be there and was not looked at: it is looked at next time', async () => {
  machines = { 'a-0': { unreadBytes: 40 * MiB }, 'b-0': { unreadBytes: 40 * MiB } };
  watch.begin(64 * MiB);
  await look();
  watch.begin(64 * MiB);
  await look();
  expect(asked).toEqual([false, true]);
  expect(ended).toEqual([]);
});

it('one past a bound of its own ends, however little all hold together', async () => {
  machines = { 'a-0': { locks: 20_001 }, 'b-0': { locks: 20_000 }, 'c-0': { openFiles: 500_001 } };
  watch.begin(1_024 * MiB);
  await look();
  expect(ended).toEqual(['a-0', 'c-0']);
});

it('the locks of one count when they have been counted, although others are looked at then', async () => {
  for (let i = 0; i < 300; i++) machines[`a-${i}`] = {};
  watch.begin(1_024 * MiB);
  await look();
  // The second look is at 256 to 299, and 0 to 211.
  machines['a-250'] = { locks: 20_001 };
  watch.begin(1_024 * MiB);
  await look();
  expect(ended).toEqual(['a-250']);
});

it('a look comes a tenth of a second after as much memory of the host has gone as one may hold, and no other does', async () => {
  watch.begin(1_024 * MiB);
  await vi.advanceTimersByTimeAsync(100);
  available = 3_968 * MiB;
  await vi.advanceTimersByTimeAsync(200);
  expect(asked).toHaveLength(0);
  available = 3_967 * MiB;
  await vi.advanceTimersByTimeAsync(100);
  expect(asked).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(500);
  expect(asked).toHaveLength(1);
});

it('one that has not worked since is not measured again, and holds what it held', async () => {
  machines = { 'a-0': { netlinkBytes: 100 * MiB }, 'b-0': { locks: 20_000 } };
  used = { 'a-0': 1.5, 'b-0': 7 };
  watch.begin(1_024 * MiB);
  await look();
  expect(measured).toEqual(['a-0', 'b-0']);
  used['b-0'] = 7.001;
  watch.begin(1_024 * MiB);
  await look();
  expect(measured).toEqual(['b-0']);
  // All together: what was measured before counts on.
  watch.begin(64 * MiB);
  await look();
  expect(ended).toEqual(['a-0']);
});

it('none is asked for its work while all together have done nothing, and each is after any has', async () => {
  for (let i = 0; i < 300; i++) {
    machines[`a-${i}`] = {};
    used[`a-${i}`] = 1;
  }
  usedOfAll = 300;
  const asks: number[] = [];
  for (let i = 0; i < 5; i++) {
    if (i === 3) [usedOfAll, used['a-0']] = [301, 2];
    usesRead = [];
    watch.begin(1_024 * MiB);
    await look();
    asks.push(usesRead.length);
  }
  // Looks are at 0 to 255, 256 to 211, 212 to 167, and so on.
  expect(asks).toEqual([256, 44, 0, 256, 44]);
  expect(measured).toEqual([]);
});

it('one whose work is not known is measured each time', async () => {
  machines = { 'a-0': {} };
  for (let i = 0; i < 2; i++) {
    watch.begin(1_024 * MiB);
    await look();
    expect(measured).toEqual(['a-0']);
  }
});

it('the memory of the host is not read while no machine works, and again with the first that does', async () => {
  usedOfAll = 5;
  watch.begin(1_024 * MiB);
  await vi.advanceTimersByTimeAsync(100);
  available = 2_048 * MiB;
  await vi.advanceTimersByTimeAsync(300);
  expect(asked).toHaveLength(0);
  usedOfAll = 5.001;
  await vi.advanceTimersByTimeAsync(100);
  expect(asked).toHaveLength(1);
});
