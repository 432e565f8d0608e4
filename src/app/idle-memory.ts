/**
 * Releases memory after a burst of work, the start included. V8 collects when it allocates, so a quiet service keeps the
 * pages of its busiest moment forever. Once the service is quiet and holds more than it needs, this collects and compacts
 * its heap through the inspector, as a developer tool does. (A plain collection leaves the free pages with V8.)
 */
import { Session } from 'node:inspector/promises';
import type { Log } from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';

const { lookMs, quietBytes, quietWorkMs, excessBytes, workMs, heldWorkMs } = limits.idleMemory;

/** Checks periodically, until the returned function is called. */
export function giveBackIdleMemory(log: Log): () => void {
  const worth = new Worth(workInMs());
  let before = { rss: process.memoryUsage.rss(), work: workInMs() };
  const look = () => {
    const now = { rss: process.memoryUsage.rss(), work: workInMs() };
    const isQuiet = Math.abs(now.rss - before.rss) < quietBytes && now.work - before.work < quietWorkMs;
    before = now;
    if (!worth.isReached(now.rss, now.work) || !isQuiet) return;
    const begun = performance.now();
    collect()
      .then(() => {
        const ms = Math.round(performance.now() - begun);
        log.info('released idle memory', { from: now.rss, to: process.memoryUsage.rss(), ms });
      })
      .catch((error: unknown) => log.warn('cannot release idle memory', { error }))
      .finally(() => worth.collected(now.rss, process.memoryUsage.rss(), workInMs()));
  };
  const timer = setInterval(look, lookMs).unref();
  return () => clearInterval(timer);
}

/**
 * Decides that a collection is worth its time: memory has grown since the last one, or the last one gave back much and may have
 * come too early, or memory is more than the service once got by with. What is left may be in use, as answers are whose readers
 * are slow: sending them is little work, so little is enough, and each collection in vain doubles what the next one takes. Bytes, and milliseconds of the processor since the start.
 */
export class Worth {
  /** Before the last collection, and least since then. */
  #beforeBytes = 0;
  #least = 0;
  /** Least since the start. */
  #floor = Number.POSITIVE_INFINITY;
  #collectedAtMs: number;
  #patienceMs: number = heldWorkMs;

  constructor(nowMs: number) {
    this.#collectedAtMs = nowMs;
  }

  isReached(bytes: number, nowMs: number): boolean {
    this.#least = Math.min(this.#least, bytes);
    this.#floor = Math.min(this.#floor, bytes);
    // The allocator gives pages back seconds after the collection.
    const wasWorthIt = this.#beforeBytes - this.#least > excessBytes;
    if (wasWorthIt) this.#patienceMs = heldWorkMs;
    // Without work since the last collection, another one frees nothing.
    const workedMs = nowMs - this.#collectedAtMs;
    if (bytes - this.#least > excessBytes) return workedMs > workMs;
    return (wasWorthIt || bytes - this.#floor > excessBytes) && workedMs > this.#patienceMs;
  }

  collected(beforeBytes: number, afterBytes: number, nowMs: number): void {
    this.#patienceMs *= 2;
    this.#beforeBytes = beforeBytes;
    this.#least = Number.POSITIVE_INFINITY;
    this.#floor = Math.min(this.#floor, afterBytes);
    this.#collectedAtMs = nowMs;
  }
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
