/** For how long one turn of this thread's event loop held up all others while something went on. */
import { processorMs } from './processor-time.ts';

/** @returns The longest turn, in milliseconds of the processor, and what `work` gave. */
export async function longestTurn<T>(work: () => Promise<T>): Promise<{ ms: number; result: T }> {
  let longest = 0;
  let begun = processorMs();
  let next = setImmediate(turn);
  function turn(): void {
    const now = processorMs();
    longest = Math.max(longest, now - begun);
    begun = now;
    next = setImmediate(turn);
  }
  try {
    const result = await work();
    return { ms: Math.max(longest, processorMs() - begun), result };
  } finally {
    clearImmediate(next);
  }
}
