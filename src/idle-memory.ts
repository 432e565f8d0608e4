/**
 * Gives back what a burst of work took. V8 collects when it allocates: a service that has become quiet keeps the pages
 * of its busiest moment for good. So once it is quiet and holds much more than it uses, its heap is collected and
 * compacted, in the way that a developer tool would ask for it.
 */
import { Session } from 'node:inspector/promises';
import type { Log } from './control/ports.ts';
import { limits } from './model/limits.ts';

/** Looks now and then, until the returned function is called. */
export function giveBackIdleMemory(log: Log): () => void {
  let before = process.memoryUsage();
  let collectedAt = 0;
  const look = () => {
    const now = process.memoryUsage();
    const isQuiet = Math.abs(now.rss - before.rss) < limits.idleMemory.quietBytes;
    const isLarge = now.rss - collectedAt > limits.idleMemory.excessBytes;
    before = now;
    if (!isQuiet || !isLarge) return;
    void collect()
      .then(() => {
        before = process.memoryUsage();
        // What stays now is in use: only what is added to it is worth another look.
        collectedAt = before.rss;
        log.info('idle memory was given back', { from: now.rss, to: before.rss });
      })
      .catch((error: unknown) => log.warn('idle memory could not be given back', { error }));
  };
  const timer = setInterval(look, limits.idleMemory.lookMs).unref();
  return () => clearInterval(timer);
}

async function collect(): Promise<void> {
  const session = new Session();
  session.connect();
  try {
    await session.post('HeapProfiler.collectGarbage');
  } finally {
    session.disconnect();
  }
}
