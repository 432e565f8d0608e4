/** Acting at a time that may be years away, and not waiting longer than so long. */

import type { Clock } from '../control/ports/index.ts';
import { SandhavenError } from '../model/errors.ts';

/** Node's own timers fire at once beyond 2^31 ms. */
const LONGEST_TIMER_MS = 24 * 60 * 60 * 1000;

/** `act` is called once the clock has come to `time` (ms since the epoch), at once when it has. Returns what calls it off. */
export function at(clock: Clock, time: number, act: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const wait = () => {
    const left = time - clock.now();
    if (left <= 0) act();
    else timer = setTimeout(wait, Math.min(left, LONGEST_TIMER_MS));
  };
  wait();
  return () => clearTimeout(timer);
}

/** Fails with `timeout` and these words when `work` takes longer; what it does goes on. */
export async function within(timeoutMs: number, work: Promise<void>, words: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new SandhavenError('timeout', words)), timeoutMs);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
