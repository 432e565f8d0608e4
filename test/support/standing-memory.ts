/** What this process holds, without what it only has not collected yet: two runs of a test differ by 100 MB of that. */
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

/** In bytes, those of buffers included. */
export function standingMemory(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Once what came before has let go of its own. */
export async function settledMemory(): Promise<number> {
  for (let before = standingMemory(); ; ) {
    await sleep(100);
    const now = standingMemory();
    if (now > before - 1_000_000) return now;
    before = now;
  }
}
