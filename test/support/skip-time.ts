/** Time that goes on by itself and can be skipped, so that no test waits for a deadline. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { onTestFinished, vi } from 'vitest';

const STEP_MS = 100;

/**
 * From here to the end of the test, for timers that are set from now on, and for `performance.now`.
 * @returns Lets so many milliseconds pass, with a turn of the event loop for each tenth of a second.
 */
export function skippableTime(): (ms: number) => Promise<void> {
  const now = performance.now.bind(performance);
  let skippedMs = 0;
  vi.useFakeTimers({
    toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'],
    shouldAdvanceTime: true,
  });
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + skippedMs);
  onTestFinished(() => {
    clock.mockRestore();
    vi.useRealTimers();
  });
  return async (ms) => {
    for (let passedMs = 0; passedMs < ms; passedMs += STEP_MS) {
      skippedMs += STEP_MS;
      vi.advanceTimersByTime(STEP_MS);
      await nextTurn();
    }
  };
}
