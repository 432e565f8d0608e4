/**
 * Rest: nothing fails, nobody calls, and time passes until nothing moves. Then every operation is settled, every
 * deadline acted on, every machine the one of its row, and nothing is left of what is gone.
 */
import { SandhavenError } from '../../src/model/errors.ts';
import { isLost } from '../../src/model/lost-node.ts';
import { parsedOf, policyOf } from '../../src/model/network/setting.ts';
import type { Sandbox } from '../../src/model/sandbox.ts';
import type { Callers } from './callers.ts';
import { shapeOf } from './legal.ts';
import { Violation } from './violation.ts';
import type { Process, World } from './world.ts';

/** Longer than the retries of the scheduler, of unfinished work, of watches and of the pool, twice. */
const REST_MS = 300_000;
const MOST_TURNS = 50_000;
/** Longer than all jumps back that a run may have within it. */
const SET_BACK_MS = 6 * 60 * 60 * 1000;
const MINUTE_MS = 60_000;
const LONGEST_ARCHIVE_MINUTES = 43_200;

export async function rest(
  world: World,
  callers: Callers,
  settled: () => Promise<void>,
  note: (line: string) => void,
): Promise<void> {
  const until = world.time.elapsedMs + REST_MS;
  const waiting = () => world.processes.filter(({ effects }) => effects.size > 0);
  const deliver = () => world.dice.oneOf(waiting()).effects.deliverOne(world.dice, () => null);
  for (let turn = 0; world.time.elapsedMs < until; turn++) {
    world.bootAll();
    await settled();
    if (turn > MOST_TURNS)
      throw new Violation(`no rest: ${waiting().flatMap(({ effects }) => effects.labels())}`);
    if (waiting().length > 0) note(deliver());
    else world.time.pass(Math.min(world.time.untilNextMs() ?? REST_MS, until - world.time.elapsedMs));
    await settled();
  }
  while (waiting().length > 0) {
    deliver();
    await settled();
  }
  const process = world.dice.oneOf(world.processes);
  if (world.processes.some(({ serves }) => !serves)) throw new Violation('the service does not start');
  const open = world.processes.flatMap((each) => callers.open(each));
  if (open.length > 0) throw new Violation(`calls without an answer: ${open}`);
  for (const row of world.tables.sandboxes.values()) atRest(world, row);
  await startsAgain(world, process, settled);
  for (const id of world.host.sandboxes.keys()) {
    if (!world.tables.sandboxes.has(id)) throw new Violation(`${id} is gone, and the host still has it`);
  }
  for (const { id, state } of world.tables.snapshots.values()) {
    if (state === 'pending' || state === 'pulling') throw new Violation(`snapshot ${id} stays ${state}`);
  }
  capturesAtRest(world, callers);
}

/** Every disk that a snapshot has is there and whole, and no other. */
function capturesAtRest({ host, tables }: World, { expected }: Callers): void {
  for (const { id, state, source } of tables.snapshots.values()) {
    if (source === null || state !== 'active') continue;
    const disk = host.captures.get(id);
    if (!disk) throw new Violation(`snapshot ${id} has no disk`);
    for (const path of expected.filesOf(id))
      if (!disk.files.has(path)) throw new Violation(`snapshot ${id} lost its file ${path}`);
  }
  for (const id of host.captures.keys())
    if (!tables.snapshots.has(id)) throw new Violation(`${id} is gone, and the host still has its disk`);
}

/** Starts one sandbox that does not run: nothing but a full host or quota stops it, and it has its files. */
async function startsAgain(world: World, process: Process, settled: () => Promise<void>): Promise<void> {
  const idle = [...world.tables.sandboxes.values()].filter(({ state }) => state !== 'started');
  const owner = world.users.find(({ id }) => id === idle.at(0)?.ownerId);
  if (!owner || !idle[0]) return;
  const { id, state } = world.dice.oneOf(idle.filter(({ ownerId }) => ownerId === owner.id));
  let fault: unknown = null;
  let answered = false;
  const start = () => process.control.services.sandboxes.start(owner, id);
  world.time.of(process.effects, start).then(
    () => {
      answered = true;
    },
    (error: unknown) => {
      fault = error;
      answered = true;
    },
  );
  await settled();
  for (let turn = 0; !answered && turn < MOST_TURNS; turn++) {
    if (process.effects.size > 0) process.effects.deliverOne(world.dice, () => null);
    else world.time.pass(world.time.untilNextMs() ?? 1);
    await settled();
  }
  const full = fault instanceof SandhavenError && fault.code === 'resource_exhausted';
  if (!answered || (fault !== null && !full))
    throw new Violation(`${id} (${state}) does not start: ${fault}`);
}

function atRest(world: World, row: Sandbox): void {
  const { host } = world;
  const { id, state } = row;
  if (row.operation !== null)
    throw new Violation(
      `${id} stays ${shapeOf(row)}, held by ${row.holder} of ${[...(world.tables.replicas?.keys() ?? [])]}`,
    );
  const machine = host.running(id);
  if (state === 'started' && machine?.generation !== row.runGeneration) {
    throw new Violation(`${id} is started at ${row.runGeneration}, its machine is ${machine?.generation}`);
  }
  const inForce = JSON.stringify(host.networks.get(id));
  if (state === 'started' && inForce !== JSON.stringify(policyOf(parsedOf(row.network))))
    throw new Violation(`${id} has ${inForce}, and ${JSON.stringify(row.network)} is meant`);
  const ended = state === 'stopped' || state === 'archived' || isLost(row);
  if (ended && machine) throw new Violation(`${id} runs, ${state} (${row.stateReason})`);
  const traces = host.sandboxes.get(id);
  if (state !== 'error' && state !== 'archived' && !traces?.disk) throw new Violation(`${id} has no disk`);
  if (traces?.disk && traces.disk.gb < row.resources.disk) throw new Violation(`${id} has too small a disk`);
  if (state === 'archived' && !traces?.archive) throw new Violation(`${id} has no archive`);
  const due = row.ownerId === null ? null : dueAt(row);
  // A sandbox that was active before the clock was set back is idle since a time that has yet to come.
  const slack = REST_MS + world.time.setBackWithin(SET_BACK_MS);
  if (due !== null && due + slack < world.time.now()) throw new Violation(`${id} is overdue: ${state}`);
  const { deadline } = row;
  const ends = deadline?.action === 'delete' || state === 'started';
  if (deadline && ends && deadline.at + slack < world.time.now())
    throw new Violation(`${id} (${state}) outlives its deadline: ${JSON.stringify(deadline)}`);
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
