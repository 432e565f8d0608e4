/**
 * Gives back what a burst of work took. V8 collects when it allocates: a service that has become quiet keeps the pages
 * of its busiest moment for good. So once it is quiet and holds much more than it once did, its heap is collected and
 * compacted, in the way that a developer tool would ask for it. (A plain collection leaves the free pages with V8.)
 */
import { Session } from 'node:inspector/promises';
import type { Log } from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';

/** Looks now and then, until the returned function is called. */
export function giveBackIdleMemory(log: Log): () => void {
  const { lookMs, quietBytes, quietWorkMs, excessBytes, workMs } = limits.idleMemory;
  let least = process.memoryUsage.rss();
  let before = { rss: least, work: workInMs() };
  let collectedAt = 0;
  const look = () => {
    const now = { rss: process.memoryUsage.rss(), work: workInMs() };
    const isQuiet = Math.abs(now.rss - before.rss) < quietBytes && now.work - before.work < quietWorkMs;
    // Without work since the last collection another one finds nothing.
    const isWorthIt = now.rss - least > excessBytes && now.work - collectedAt > workMs;
    before = now;
    least = Math.min(least, now.rss);
    if (!isQuiet || !isWorthIt) return;
    collect()
      .then(() => log.info('idle memory was given back', { from: now.rss, to: process.memoryUsage.rss() }))
      .catch((error: unknown) => log.warn('idle memory could not be given back', { error }))
      .finally(() => {
        collectedAt = workInMs();
      });
  };
  const timer = setInterval(look, lookMs).unref();
  return () => clearInterval(timer);
}

/** Of all processors, since the process began. */
function workInMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
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
