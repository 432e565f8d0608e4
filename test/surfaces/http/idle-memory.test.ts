/** What a burst took goes back to the machine once the service is quiet. */
import { Session } from 'node:inspector/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { giveBackIdleMemory, Worth } from '../../../src/app/idle-memory.ts';

const MiB = 1024 * 1024;
const LOOK_MS = 3_000;

let workedMicroseconds: number;

beforeEach(async () => {
  await collect();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  workedMicroseconds = 0;
  vi.spyOn(process, 'cpuUsage').mockImplementation(() => ({ user: workedMicroseconds, system: 0 }));
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('idle memory', () => {
  it('is given back without a word from anybody', async () => {
    const { log, collections, stop } = started();
    try {
      let burst: object[] | null = madeInSeconds(2);
      vi.advanceTimersByTime(LOOK_MS);
      const busy = process.memoryUsage().heapTotal;
      expect(burst.length).toBeGreaterThan(0);
      burst = null;
      vi.advanceTimersByTime(LOOK_MS);
      await expect.poll(() => log.length).toBe(1);
      expect(log[0]).toEqual({ from: expect.any(Number), to: expect.any(Number), ms: expect.any(Number) });
      expect(busy - process.memoryUsage().heapTotal).toBeGreaterThan(32 * MiB);
      // Nothing was done since: another collection would find nothing.
      vi.advanceTimersByTime(5 * LOOK_MS);
      expect(collections).toHaveBeenCalledTimes(1);
    } finally {
      stop();
    }
  });

  it('is collected once after the start, and again only where it has grown', async () => {
    const { log, collections, stop } = started();
    try {
      worked(2);
      vi.advanceTimersByTime(2 * LOOK_MS);
      await expect.poll(() => log.length).toBe(1);
      for (let look = 0; look < 10; look++) {
        worked(0.09);
        vi.advanceTimersByTime(LOOK_MS);
      }
      expect(collections).toHaveBeenCalledTimes(1);
      const grown = madeInSeconds(2);
      vi.advanceTimersByTime(2 * LOOK_MS);
      await expect.poll(() => log.length).toBe(2);
      expect(grown.length).toBeGreaterThan(0);
    } finally {
      stop();
    }
  });

  it('is left alone while the service works', () => {
    const { collections, stop } = started();
    try {
      const burst = madeInSeconds(2);
      vi.advanceTimersByTime(LOOK_MS);
      worked(2);
      vi.advanceTimersByTime(LOOK_MS);
      expect(collections).not.toHaveBeenCalled();
      expect(burst.length).toBeGreaterThan(0);
    } finally {
      stop();
    }
  });
});

describe('a collection', () => {
  it('is repeated once what was in use at the last one may be free', () => {
    const worth = new Worth(0);
    worth.collected(130 * MiB, 120 * MiB, 1_000);
    expect(worth.isReached(400 * MiB, 3_000)).toBe(true);
    worth.collected(400 * MiB, 200 * MiB, 3_000);
    expect(worth.isReached(180 * MiB, 3_050)).toBe(false);
    expect(worth.isReached(180 * MiB, 3_150)).toBe(true);
  });

  it('that gave back much is followed by another, for what was in use then, and one in vain by none', () => {
    const worth = new Worth(0);
    expect(worth.isReached(500 * MiB, 1_000)).toBe(true);
    worth.collected(500 * MiB, 215 * MiB, 1_000);
    expect(worth.isReached(190 * MiB, 1_050)).toBe(false);
    expect(worth.isReached(190 * MiB, 1_150)).toBe(true);
    worth.collected(190 * MiB, 190 * MiB, 1_150);
    expect(worth.isReached(190 * MiB, 9_000)).toBe(false);
  });

  it('in vain doubles the work before the next, until memory grows', () => {
    const worth = new Worth(0);
    worth.collected(120 * MiB, 120 * MiB, 0);
    worth.collected(150 * MiB, 150 * MiB, 1_000);
    expect(worth.isReached(150 * MiB, 1_300)).toBe(false);
    expect(worth.isReached(150 * MiB, 1_500)).toBe(true);
    worth.collected(150 * MiB, 150 * MiB, 1_500);
    expect(worth.isReached(150 * MiB, 2_200)).toBe(false);
    expect(worth.isReached(150 * MiB, 2_400)).toBe(true);
    expect(worth.isReached(180 * MiB, 2_100)).toBe(true);
  });
});

/** What earlier tests left would have room for a whole burst. */
async function collect(): Promise<void> {
  const session = new Session();
  session.connect();
  await session.post('HeapProfiler.collectGarbage');
  session.disconnect();
}

function started() {
  const log: Record<string, unknown>[] = [];
  const note = (_message: string, context: Record<string, unknown> = {}) => void log.push(context);
  // Asked for in the look itself, so nobody has to wait to see that there was none.
  const collections = vi.spyOn(Session.prototype, 'post');
  return { log, collections, stop: giveBackIdleMemory({ info: note, warn: note, error: note }) };
}

/** 64 MiB of objects, made with so many seconds of work. */
function madeInSeconds(seconds: number): object[] {
  const burst = Array.from({ length: 2_000_000 }, (_, at) => ({ at }));
  worked(seconds);
  return burst;
}

/** The processor says that it was. */
function worked(seconds: number): void {
  workedMicroseconds += seconds * 1e6;
}
