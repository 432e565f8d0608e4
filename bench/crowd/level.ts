/** Measures a service among so many idle sandboxes: its calls, its process at rest, and its restart. */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { timed } from '../base/interleave.ts';
import { processMemory } from '../base/memory.ts';
import type { Sandhaven } from '../base/sandhaven.ts';
import { summarize } from '../base/statistics.ts';

/** Times are medians. */
export interface Level {
  sandboxes: number;
  createMs: number;
  commandMs: number;
  stopMs: number;
  deleteMs: number;
  listMs: number;
  residentMb: number;
  /** Of one processor, without any call. */
  idlePercent: number;
  /** 99th percentile of the last half minute, the calls in it. */
  loopDelayMs: number;
  /** From SIGTERM to the answer of the first call. */
  restartS: number;
}

/** Sandboxes must outlive the measurement. */
export const LASTING = { auto_stop_minutes: 0 };

const IDLE_MS = 30_000;
const SETTLE_MS = 3_000;
/** The kernel's USER_HZ, the same on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

export async function measureLevel(sandhaven: Sandhaven, sandboxes: number, rounds: number): Promise<Level> {
  await sleep(SETTLE_MS);
  const before = await processorSeconds(sandhaven.pid);
  await sleep(IDLE_MS);
  const idleSeconds = (await processorSeconds(sandhaven.pid)) - before;
  const { resident } = await processMemory(sandhaven.pid);
  const calls = await measureCalls(sandhaven, rounds);
  const loopDelayMs = await loopDelay(sandhaven);
  const restartMs = await timed(async () => {
    await sandhaven.restart();
    await sandhaven.list();
  });
  return {
    sandboxes,
    ...calls,
    residentMb: resident / 1e6,
    idlePercent: (idleSeconds / (IDLE_MS / 1_000)) * 100,
    loopDelayMs,
    restartS: restartMs / 1_000,
  };
}

/** Stops one sandbox and deletes another: to delete a stopped one is less work. */
async function measureCalls(sandhaven: Sandhaven, rounds: number) {
  const times: Record<'create' | 'command' | 'stop' | 'remove' | 'list', number[]> = {
    ...{ create: [], command: [], stop: [], remove: [], list: [] },
  };
  for (let round = 0; round < rounds; round++) {
    const ids: string[] = [];
    const create = async () => ids.push(await sandhaven.create(LASTING));
    times.create.push(await timed(create), await timed(create));
    const [stopped = '', running = ''] = ids;
    times.command.push(await timed(() => sandhaven.command(running, 'true')));
    times.list.push(await timed(() => sandhaven.list()));
    times.stop.push(await timed(() => sandhaven.stop(stopped)));
    times.remove.push(await timed(() => sandhaven.remove(running)));
    await sandhaven.remove(stopped);
  }
  return {
    createMs: summarize(times.create).median,
    commandMs: summarize(times.command).median,
    stopMs: summarize(times.stop).median,
    deleteMs: summarize(times.remove).median,
    listMs: summarize(times.list).median,
  };
}

/** Of the process and of its children that have ended: the helpers of its work. */
async function processorSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name, in brackets, may have spaces.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields.slice(11, 15);
  return (user + system + childrenUser + childrenSystem) / TICKS_PER_SECOND;
}

async function loopDelay(sandhaven: Sandhaven): Promise<number> {
  const found = /^sandhaven_event_loop_delay_seconds (\S+)$/m.exec(await sandhaven.metrics());
  if (!found) throw new Error('the service shows no delay of its event loop');
  return Number(found[1]) * 1_000;
}
