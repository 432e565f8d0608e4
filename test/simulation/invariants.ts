/** What holds after every step, whatever was killed, failed or came late. Only what changed is looked at. */
import { isLost } from '../../src/model/lost-node.ts';
import type { Sandbox } from '../../src/model/sandbox.ts';
import type { Snapshot } from '../../src/model/snapshot.ts';
import type { Expectations } from './expectations.ts';
import type { Archive, MachineSize, Traces } from './host/memory-host.ts';
import { isLegalStep, shapeOf, snapshotSteps } from './legal.ts';
import { Violation } from './violation.ts';
import { ACTIVITY_STORED_MS, quota, type World } from './world.ts';

const MINUTE_MS = 60_000;
/** Longer than all jumps back that a run may have within it. */
const SET_BACK_MS = 6 * 60 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;
const aboutToRun = new Set(['creating', 'starting', 'restoring']);

export class Invariants {
  readonly #world: World;
  readonly #expected: Expectations;
  readonly #note: (line: string) => void;
  /** Sandboxes that were put in error by a lost node, and those of them that were started again. */
  readonly lost = { settled: 0, startedAgain: 0 };
  /** Found in the midst of the engine's work, whose errors the core handles. */
  #fault: Violation | null = null;
  #sandboxes = new Map<string, Sandbox>();
  #snapshots = new Map<string, Snapshot>();

  /** @param note Takes a line about each change. */
  constructor(world: World, expected: Expectations, note: (line: string) => void) {
    this.#world = world;
    this.#note = note;
    this.#expected = expected;
    world.host.watchers = {
      dropsDisk: (id, traces) => this.#dropsDisk(id, traces),
      dropsArchive: (id, traces) => this.#dropsArchive(id, traces),
      destroys: (id) => this.#destroys(id),
      doubles: (id) => this.#found(`a second machine of ${id}`),
      misses: (digest) => this.#found(`a machine is started without its image ${digest}`),
    };
  }

  /** Forgets what rows were: a power cut has put back some. */
  restart(): void {
    this.#sandboxes = new Map(this.#world.tables.sandboxes);
    this.#snapshots = new Map(this.#world.tables.snapshots);
    for (const id of this.#sandboxes.keys()) this.#world.host.changed.add(id);
  }

  /** Throws a `Violation`. */
  check(): void {
    if (this.#fault) throw this.#fault;
    const { tables, host } = this.#world;
    const changed = new Set(host.changed);
    host.changed.clear();
    for (const [id, row] of tables.sandboxes) {
      const before = this.#sandboxes.get(id);
      if (before === row) continue;
      this.#row(before ?? null, row);
      this.#sandboxes.set(id, row);
      changed.add(id);
    }
    for (const [id, row] of this.#sandboxes) {
      if (tables.sandboxes.has(id)) continue;
      this.#gone(row);
      this.#sandboxes.delete(id);
      changed.add(id);
    }
    if (changed.size > 0) for (const { id } of this.#world.users) this.#quota(id);
    for (const id of changed) this.#host(id);
    this.#snapshotRows();
    this.#expected.looked();
  }

  #row(before: Sandbox | null, row: Sandbox): void {
    const what = `${row.id}: ${before ? shapeOf(before) : 'nothing'} → ${shapeOf(row)}`;
    this.#note(`row: ${what}, generation ${row.generation}`);
    if (isLost(row) && before?.operation !== 'starting') this.lost.settled++;
    if (before && isLost(before) && row.operation === 'starting') this.lost.startedAgain++;
    if (!isLegalStep(before, row)) throw new Violation(`illegal step of ${what}`);
    if (before && row.generation < before.generation) throw new Violation(`older generation of ${what}`);
    if (before?.ownerId && row.ownerId !== before.ownerId) throw new Violation(`second owner of ${what}`);
    if ((row.runGeneration ?? 0) > row.generation) throw new Violation(`runs ahead: ${what}`);
    if (!this.#world.host.images.has(row.imageDigest)) throw new Violation(`image of ${what} is collected`);
    if (row.operation !== 'resizing' && row.resizeTarget) throw new Violation(`resize target of ${what}`);
    if (row.operation !== 'restoring' && row.rollbackTo) throw new Violation(`rollback of ${what}`);
    if (row.operation === 'stopping' && before?.operation === null) this.#idle(row, what);
    if (before) this.#deadline(before, row, what);
    if (row.operation === null) assertWhole(row, what);
    if (row.state !== 'started') this.#expected.stopped(row.id);
    if (row.ownerId !== null && row.operation !== 'creating') this.#alone(row);
  }

  /** A sandbox that stops by itself has been idle for as long as its settings say. */
  #idle({ id, stateReason, autoStopMinutes }: Sandbox, what: string): void {
    const used = this.#expected.lastUse(id);
    if (!stateReason?.startsWith('Stopped automatically') || used === null) return;
    const { time, most } = this.#world;
    // Another replica has not read of that use yet, and by the new time the one before is long ago.
    if (most > 1 && time.wasSetForwardWithin(ACTIVITY_STORED_MS)) return;
    const idleMs = time.now() - used;
    if (idleMs < autoStopMinutes * MINUTE_MS) throw new Violation(`in use ${idleMs} ms before: ${what}`);
  }

  /**
   * A deadline ends nothing before its time, and only a caller moves or removes it: a step of the lifecycle keeps it, unless
   * it has passed and was a stop.
   */
  #deadline(before: Sandbox, row: Sandbox, what: string): void {
    const { time } = this.#world;
    const { deadline } = before;
    const hasPassed = deadline !== null && deadline.at <= time.now() + time.setBackWithin(SET_BACK_MS);
    const begins = row.operation !== null && before.operation === null;
    const reason = { stopping: 'Stopped at its deadline.', deleting: 'Deleted at its deadline.' };
    const byDeadline = begins && row.stateReason === reason[row.operation as keyof typeof reason];
    if (byDeadline && !hasPassed && before.stateReason !== row.stateReason)
      throw new Violation(`ended before its deadline: ${what}`);
    const isStep = row.operation !== before.operation || row.generation !== before.generation;
    const isKept = JSON.stringify(row.deadline) === JSON.stringify(deadline);
    const isOver = row.deadline === null && hasPassed && deadline.action === 'stop';
    if (!isStep || isKept || isOver || this.#expected.deadlineMoves(row.id)) return;
    const [was, is] = [before, row].map(({ deadline }) => JSON.stringify(deadline));
    throw new Violation(`another deadline by a step, ${was} → ${is}: ${what}`);
  }

  /** The only one of its owner with its name, and with the key of its creation within a day. */
  #alone(row: Sandbox): void {
    for (const other of this.#world.tables.sandboxes.values()) {
      if (other.id === row.id || other.ownerId !== row.ownerId) continue;
      if (other.name === row.name) throw new Violation(`${row.id} and ${other.id} have one name`);
      const oneKey = row.creationKey !== null && other.creationKey === row.creationKey;
      if (!oneKey || other.operation === 'creating') continue;
      if (Math.abs(other.createdAt - row.createdAt) < DAY_MS / 2) {
        throw new Violation(`${row.id} and ${other.id} were made under one key`);
      }
    }
  }

  #gone({ id, operation, ownerId, state }: Sandbox): void {
    this.#note(`row: ${id} is gone`);
    const ends = operation === 'deleting' || operation === 'creating' || operation === 'stopping';
    if (!ends && ownerId !== null) throw new Violation(`the row of ${id} (${state}) is gone`);
    if (this.#world.host.sandboxes.has(id)) throw new Violation(`the row of ${id} went before its machine`);
    if (this.#expected.lasts(id)) throw new Violation(`${id} was to last`);
    this.#expected.ended(id);
  }

  #quota(ownerId: string): void {
    const used = { sandboxes: 0, cpu: 0, memory: 0, disk: 0 };
    for (const row of this.#world.tables.sandboxes.values()) {
      if (row.ownerId !== ownerId) continue;
      used.sandboxes += 1;
      used.disk += row.resources.disk;
      if (row.state !== 'started' && !aboutToRun.has(row.operation ?? '')) continue;
      used.cpu += row.resources.cpu;
      used.memory += row.resources.memory;
    }
    for (const kind of ['sandboxes', 'cpu', 'memory', 'disk'] as const) {
      if (used[kind] > (quota[kind] ?? Infinity)) {
        throw new Violation(`${ownerId} has ${used[kind]} of ${kind}, and may have ${quota[kind]}`);
      }
    }
  }

  /** One machine for a row, none newer than it; every acknowledged file in the copy that the next start uses. */
  #host(id: string): void {
    const { host, tables } = this.#world;
    const row = tables.sandboxes.get(id);
    const machine = host.running(id);
    if (!row) return;
    if (machine && machine.generation > row.generation) throw new Violation(`${id} runs ahead of its row`);
    if (row.operation === null && machine?.generation === row.runGeneration) assertSize(row, machine?.size);
    if (row.ownerId === null || row.operation === 'deleting' || row.operation === 'creating') return;
    if (row.operation === 'stopping') return;
    const { disk = null, archive = null } = host.sandboxes.get(id) ?? {};
    const files = disk?.files ?? (matches(row, archive) ? archive?.disk.files : undefined);
    for (const path of this.#expected.filesOf(id)) {
      if (!files?.has(path)) throw new Violation(`${id} (${shapeOf(row)}) lost its file ${path}`);
    }
  }

  #dropsDisk(id: string, { archive }: Traces): void {
    const row = this.#world.tables.sandboxes.get(id);
    const copied =
      row?.state === 'archived' &&
      ['archiving', 'stopping', 'restoring', null].includes(row.operation) &&
      matches(row, archive);
    if (!copied) this.#found(`the disk of ${id} is dropped before its copy is committed`);
  }

  #dropsArchive(id: string, { disk }: Traces): void {
    const row = this.#world.tables.sandboxes.get(id);
    if (row && (row.archive !== null || !disk)) this.#found(`the one copy of ${id} is dropped`);
  }

  #destroys(id: string): void {
    const row = this.#world.tables.sandboxes.get(id);
    if (!row || row.ownerId === null) return;
    const { operation, ephemeral, autoDeleteMinutes } = row;
    const ends = operation === 'stopping' && (ephemeral || autoDeleteMinutes === 0);
    if (operation === 'deleting' || operation === 'creating' || ends) return;
    this.#found(`${id} (${shapeOf(row)}) is destroyed`);
  }

  #found(what: string): void {
    this.#fault ??= new Violation(what);
  }

  #snapshotRows(): void {
    const { snapshots } = this.#world.tables;
    for (const [id, row] of snapshots) {
      const before = this.#snapshots.get(id);
      if (before === row) continue;
      const known = before ? snapshotSteps[before.state] : ['pending'];
      // One of a sandbox pulls nothing.
      const steps = row.source && before?.state === 'pending' ? ['pending', 'active', 'error'] : known;
      if (!steps.includes(row.state)) throw new Violation(`snapshot ${id}: ${before?.state} → ${row.state}`);
      if (row.state === 'active' && !this.#world.host.images.has(row.imageDigest ?? '')) {
        throw new Violation(`the image of snapshot ${id} is collected`);
      }
      this.#snapshots.set(id, row);
    }
    for (const id of this.#snapshots.keys()) if (!snapshots.has(id)) this.#snapshots.delete(id);
  }
}

/** Columns that a settled row has, by its state. */
function assertWhole(row: Sandbox, what: string): void {
  const { state, runGeneration, archive, startedAt, stoppedAt, archivedAt, stateReason } = row;
  const whole = {
    started: runGeneration !== null && startedAt !== null && archive === null,
    stopped: runGeneration === null && stoppedAt !== null,
    archived: runGeneration === null && archive !== null && archivedAt !== null,
    error: runGeneration === null && stateReason !== null,
  }[state];
  if (!whole) throw new Violation(`${what} has wrong columns: ${JSON.stringify(row)}`);
}

/** A settled sandbox has what its row promises, and is charged for. */
function assertSize({ id, resources }: Sandbox, size: MachineSize | undefined): void {
  if (!size || (size.cpu === resources.cpu && size.memory === resources.memory)) return;
  const [has, promised] = [size, resources].map(({ cpu, memory }) => `${cpu} processors and ${memory} GiB`);
  throw new Violation(`${id} has ${has}, and its row ${promised}`);
}

function matches(row: Sandbox, archive: Archive | null): boolean {
  return archive !== null && row.archive?.digest === archive.digest;
}
