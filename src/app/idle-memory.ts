/**
 * Releases memory after a burst of work, the start included. V8 collects when it allocates, so a quiet service keeps the
 * pages of its busiest moment forever. Once the service is quiet and holds more than after the last time, this collects and
 * compacts its heap through the inspector, as a developer tool does. (A plain collection leaves the free pages with V8.)
 */
import { Session } from 'node:inspector/promises';
import type { Log } from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';

/** Checks periodically, until the returned function is called. */
export function giveBackIdleMemory(log: Log): () => void {
  const { lookMs, quietBytes, quietWorkMs, excessBytes, workMs } = limits.idleMemory;
  /** Least since the last collection. */
  let least = 0;
  let before = { rss: process.memoryUsage.rss(), work: workInMs() };
  let collectedAt = 0;
  const look = () => {
    const now = { rss: process.memoryUsage.rss(), work: workInMs() };
    const isQuiet = Math.abs(now.rss - before.rss) < quietBytes && now.work - before.work < quietWorkMs;
    // Without work since the last collection, another one frees nothing.
    const isWorthIt = now.rss - least > excessBytes && now.work - collectedAt > workMs;
    before = now;
    least = Math.min(least, now.rss);
    if (!isQuiet || !isWorthIt) return;
    const begun = performance.now();
    least = Number.POSITIVE_INFINITY;
    collect()
      .then(() => {
        const ms = Math.round(performance.now() - begun);
        log.info('released idle memory', { from: now.rss, to: process.memoryUsage.rss(), ms });
      })
      .catch((error: unknown) => log.warn('cannot release idle memory', { error }))
      .finally(() => {
        collectedAt = workInMs();
      });
  };
  const timer = setInterval(look, lookMs).unref();
  return () => clearInterval(timer);
}

/** Processor time of the process since its start. */
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
