/** What a burst took goes back to the machine once the service is quiet. */
import { describe, expect, it } from 'vitest';
import { giveBackIdleMemory } from '../../src/idle-memory.ts';

const MiB = 1024 * 1024;

describe('idle memory', () => {
  it('is given back without a word from anybody', async () => {
    const log: Record<string, unknown>[] = [];
    const note = (_message: string, context: Record<string, unknown> = {}) => void log.push(context);
    const stop = giveBackIdleMemory({ info: note, warn: note, error: note });
    try {
      let burst: object[] | null = Array.from({ length: 1_500_000 }, (_, at) => ({ at }));
      expect(burst.length).toBeGreaterThan(0);
      const busy = process.memoryUsage().heapTotal;
      burst = null;
      await expect.poll(() => log.length, { timeout: 50_000, interval: 500 }).toBeGreaterThan(0);
      expect(log[0]).toEqual({ from: expect.any(Number), to: expect.any(Number) });
      expect(busy - process.memoryUsage().heapTotal).toBeGreaterThan(32 * MiB);
    } finally {
      stop();
    }
  }, 60_000);
});
