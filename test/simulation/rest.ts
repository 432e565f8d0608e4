/**
 * Rest: nothing fails, nobody calls, and time passes until nothing moves. Then every operation is settled, every
 * deadline acted on, every machine the one of its row, and nothing is left of what is gone.
 */
import type { Sandbox } from '../../src/model/sandbox.ts';
import type { Callers } from './callers.ts';
import { shapeOf } from './legal.ts';
import { Violation } from './violation.ts';
import type { World } from './world.ts';

/** Longer than the scheduler's retries, the watches' and the pool's. */
const REST_MS = 150_000;
const MOST_TURNS = 50_000;
const MINUTE_MS = 60_000;
const LONGEST_ARCHIVE_MINUTES = 43_200;

export async function rest(
  world: World,
  callers: Callers,
  settled: () => Promise<void>,
  note: (line: string) => void,
): Promise<void> {
  const until = world.time.elapsedMs + REST_MS;
  for (let turn = 0; world.time.elapsedMs < until; turn++) {
    const process = world.process ?? world.boot();
    await settled();
    if (turn > MOST_TURNS) throw new Violation(`no rest: ${process.effects.labels().slice(0, 10)}`);
    if (process.effects.size > 0) note(process.effects.deliverOne(world.dice, () => null));
    else world.time.pass(Math.min(world.time.untilNextMs() ?? REST_MS, until - world.time.elapsedMs));
    await settled();
  }
  const { process } = world;
  while (process && process.effects.size > 0) {
    process.effects.deliverOne(world.dice, () => null);
    await settled();
  }
  if (!process?.serves) throw new Violation('the service does not start');
  const open = callers.open(process);
  if (open.length > 0) throw new Violation(`calls without an answer: ${open}`);
  for (const row of world.tables.sandboxes.values()) atRest(world, row);
  for (const id of world.host.sandboxes.keys()) {
    if (!world.tables.sandboxes.has(id)) throw new Violation(`${id} is gone, and the host still has it`);
  }
  for (const { id, state } of world.tables.snapshots.values()) {
    if (state === 'pending' || state === 'pulling') throw new Violation(`snapshot ${id} stays ${state}`);
  }
}

function atRest(world: World, row: Sandbox): void {
  const { host } = world;
  const { id, state } = row;
  if (row.operation !== null) throw new Violation(`${id} stays ${shapeOf(row)}`);
  const machine = host.running(id);
  if (state === 'started' && machine?.generation !== row.runGeneration) {
    throw new Violation(`${id} is started at ${row.runGeneration}, its machine is ${machine?.generation}`);
  }
  if ((state === 'stopped' || state === 'archived') && machine) throw new Violation(`${id} runs, ${state}`);
  const traces = host.sandboxes.get(id);
  if (state !== 'error' && state !== 'archived' && !traces?.disk) throw new Violation(`${id} has no disk`);
  if (state === 'archived' && !traces?.archive) throw new Violation(`${id} has no archive`);
  const due = row.ownerId === null ? null : dueAt(row);
  if (due !== null && due + REST_MS < world.time.now()) throw new Violation(`${id} is overdue: ${state}`);
}

/** By the contract: idle time, then time since the stop. */
function dueAt(row: Sandbox): number | null {
  const { state, stoppedAt } = row;
  if (state === 'started') {
    return row.autoStopMinutes > 0 ? row.lastActivityAt + row.autoStopMinutes * MINUTE_MS : null;
  }
  if (state === 'error' || stoppedAt === null) return null;
  const archiveMinutes = row.autoArchiveMinutes || LONGEST_ARCHIVE_MINUTES;
  const archive = state === 'stopped' ? stoppedAt + archiveMinutes * MINUTE_MS : Infinity;
  const end = row.autoDeleteMinutes < 0 ? Infinity : stoppedAt + row.autoDeleteMinutes * MINUTE_MS;
  const first = Math.min(archive, end);
  return Number.isFinite(first) ? first : null;
}
