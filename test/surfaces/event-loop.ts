/** How long the event loop of this process was held up while something went on. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 10;
const ATTEMPTS = 3;

/**
 * @returns The longest delay in milliseconds, and what `work` gave. Of several attempts the best counts: what else the
 * machine does delays some of them, what `work` does delays all.
 */
export async function longestDelay<T>(work: () => Promise<T>): Promise<{ ms: number; result: T }> {
  const seen: { ms: number; result: T }[] = [];
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    histogram.enable();
    const result = await work();
    histogram.disable();
    seen.push({ ms: histogram.max / 1e6, result });
  }
  const [best] = seen.toSorted((one, other) => one.ms - other.ms);
  if (!best) throw new Error('nothing was attempted');
  return best;
}
