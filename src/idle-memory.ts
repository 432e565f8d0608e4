/**
 * Gives back what a burst of work took. V8 collects when it allocates: a service that has become quiet keeps the pages
 * of its busiest moment for good. So once it is quiet and holds much more than it uses, one collection is asked for.
 * V8 then goes on by itself, in small steps, until its heap is as small as it can be. (What the inspector asks for is
 * done in one piece, which holds the event loop for 120 ms.)
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Log } from './control/ports.ts';
import { limits } from './model/limits.ts';

/** V8's own, from its extension `gc`. */
type Collect = (options: { type: 'major'; execution: 'async' }) => Promise<void>;

/** Looks now and then, until the returned function is called. */
export function giveBackIdleMemory(log: Log): () => void {
  const { lookMs, quietBytes, excessBytes, settlingMs } = limits.idleMemory;
  const collect = collector();
  let before = process.memoryUsage.rss();
  let inUse = 0;
  let collecting = false;
  const giveBack = async (from: number) => {
    await collect({ type: 'major', execution: 'async' });
    await sleep(settlingMs, undefined, { ref: false });
    before = process.memoryUsage.rss();
    // What stays once nothing more comes of it is in use: only what is added to that is worth another collection.
    if (from - before < quietBytes) inUse = before;
    log.info('idle memory was given back', { from, to: before });
  };
  const look = () => {
    const now = process.memoryUsage.rss();
    const isQuiet = Math.abs(now - before) < quietBytes;
    before = now;
    if (!isQuiet || now - inUse <= excessBytes || collecting) return;
    collecting = true;
    void giveBack(now)
      .catch((error: unknown) => log.warn('idle memory could not be given back', { error }))
      .finally(() => {
        collecting = false;
      });
  };
  const timer = setInterval(look, lookMs).unref();
  return () => clearInterval(timer);
}

function collector(): Collect {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as Collect;
}
