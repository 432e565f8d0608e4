/** Random calls of two users, as the tools make them, and what their answers promise. */
import type { CreateRequest } from '../../src/control/lifecycle/creation.ts';
import { SandhavenError } from '../../src/model/errors.ts';
import type { NetworkRequest } from '../../src/model/network/setting.ts';
import type { Sandbox } from '../../src/model/sandbox.ts';
import type { User } from '../../src/model/user.ts';
import type { Expectations } from './expectations.ts';
import { pullable } from './host/memory-images.ts';
import { Violation } from './violation.ts';
import type { Process, World } from './world.ts';

const MOST_OPEN = 16;
const MOST_FILES = 12;
const KEYS = 8;
/** One of each kind. */
const NETWORKS: readonly NetworkRequest[] = [
  'open',
  'none',
  { profiles: ['git'] },
  { allow: ['example.com'] },
];
const NAMES = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];

const weights = {
  create: 14,
  createOnce: 8,
  start: 10,
  stop: 10,
  archive: 8,
  delete: 10,
  resize: 6,
  configure: 4,
  deadline: 4,
  label: 2,
  network: 4,
  write: 18,
  read: 4,
  list: 2,
  snapshot: 4,
  dropSnapshot: 2,
  take: 4,
  fromSnapshot: 4,
  fork: 2,
  rollback: 3,
  ready: 1,
};

type Kind = keyof typeof weights;

export class Callers {
  readonly #world: World;
  readonly expected: Expectations;
  readonly #note: (line: string) => void;
  readonly #open = new Map<number, { process: Process; what: string }>();
  /** Ends of rollbacks that were not answered. */
  readonly #rollbacks = new Map<Process, Set<() => void>>();
  #drawn = 0;
  /** The first answer that no caller should get. */
  fault: Violation | null = null;

  constructor(world: World, expected: Expectations, note: (line: string) => void) {
    this.#world = world;
    this.expected = expected;
    this.#note = note;
  }

  /** Calls that the process has not answered. */
  open(process: Process | null): string[] {
    return [...this.#open.values()].filter((call) => call.process === process).map(({ what }) => what);
  }

  /** Begins one call, when not too many are open. */
  begin(process: Process): void {
    if (this.open(process).length >= MOST_OPEN) return;
    const { dice, users } = this.#world;
    const kind = dice.weighted(weights);
    const user = dice.oneOf(users);
    const number = ++this.#drawn;
    const what = `${user.name} ${kind} #${number}`;
    this.#note(`call: ${what}`);
    this.#open.set(number, { process, what });
    this.#call(process, kind, user).then(
      () => this.#ended(number, what, 'done'),
      (error: unknown) => {
        if (!(error instanceof SandhavenError)) this.fault ??= faultOf(what, error);
        this.#ended(number, what, String(error));
      },
    );
  }

  /** The callers of killed processes see their connections break. */
  broken(ended: Process[]): void {
    for (const [number, { process }] of this.#open) if (ended.includes(process)) this.#open.delete(number);
    for (const process of ended) {
      for (const broken of this.#rollbacks.get(process) ?? []) broken();
      this.#rollbacks.delete(process);
    }
  }

  #ended(number: number, what: string, how: string): void {
    this.#open.delete(number);
    this.#note(`answer: ${what}: ${how}`);
  }

  async #call(process: Process, kind: Kind, user: User): Promise<void> {
    const { services, readiness } = process.control;
    const { dice } = this.#world;
    if (kind === 'ready') return void (await readiness.check());
    if (kind === 'create') return this.#create(services, user);
    if (kind === 'createOnce') return this.#createOnce(services, user);
    if (kind === 'list') return void (await services.sandboxes.list(user, {}, { page: 1, pageSize: 20 }));
    if (kind === 'fromSnapshot') return this.#createFrom(services, user);
    if (kind === 'snapshot' || kind === 'dropSnapshot') return this.#snapshot(services, user, kind);
    const row = this.#some(user);
    if (!row) return;
    const { id } = row;
    this.#note(`for: ${kind} of ${id}`);
    switch (kind) {
      case 'start':
        return void (await services.sandboxes.start(user, id));
      case 'stop':
        return void (await services.sandboxes.stop(user, dice.chance(0.5) ? id : row.name));
      case 'archive':
        return void (await services.sandboxes.archive(user, id));
      case 'delete':
        this.expected.mayEnd(id);
        return void (await services.sandboxes.delete(user, id));
      case 'resize':
        return void (await services.sandboxes.resize(user, id, this.#sizes()));
      case 'configure':
        return this.#configure(services, user, id);
      case 'deadline':
        return this.#setDeadline(services, user, id);
      case 'label':
        return void (await services.sandboxes.setLabels(user, id, { turn: String(this.#drawn) }));
      case 'network':
        return void (await services.networks.set(user, id, dice.oneOf(NETWORKS)));
      case 'take':
        return this.#take(services, user, id);
      case 'rollback':
        return this.#rollBack(process, user, id);
      case 'fork':
        return this.#fork(services, user, id);
      case 'write':
        return this.#write(process, user, id);
      case 'read':
        return void (await services.files.read(user, id, { path: 'file 1' }).catch(expectNotFound));
    }
  }

  async #create(services: Process['control']['services'], user: User): Promise<void> {
    const request = this.#request(this.#world.dice.below(1 << 16));
    this.#made(await services.sandboxes.create(user, request));
  }

  /** Several requests have one key, and a key has one request. */
  async #createOnce(services: Process['control']['services'], user: User): Promise<void> {
    const drawn = this.#world.dice.below(KEYS);
    const { name: _, ...request } = this.#request(drawn);
    const idempotencyKey = `key ${drawn}`;
    const made = await services.sandboxes.create(user, request, { idempotencyKey });
    this.#made(made);
    this.expected.answered(`${user.name} ${idempotencyKey}`, made, this.#world.time.now());
  }

  /** An answer under a key may be an old one: a sandbox that is gone is promised to nobody. */
  #made({ id, ephemeral, autoDeleteMinutes }: Sandbox): void {
    if (!this.#world.tables.sandboxes.has(id)) return;
    this.expected.created(id, ephemeral || autoDeleteMinutes >= 0);
  }

  #request(drawn: number): CreateRequest {
    const some = <T>(values: readonly T[], salt: number) => values[(drawn * 7 + salt) % values.length] as T;
    const image = some([undefined, undefined, undefined, undefined, ...pullable, 'no/such:image'], 1);
    const named = drawn % 3 === 0 ? { name: some(NAMES, 1) } : {};
    const network = drawn % 4 === 0 ? { network: some(NETWORKS, 1) } : {};
    const snapshot = drawn % 11 === 0 ? { snapshot: some(['snap 0', 'snap 1', 'base'], 2) } : {};
    return {
      ...named,
      ...network,
      ...snapshot,
      ...(image === undefined || drawn % 11 === 0 ? {} : { image }),
      ...{ language: 'python', envVars: {}, labels: {}, gpu: 0 },
      autoStopMinutes: some([0, 1, 15, 15], 3),
      cpu: some([2, 2, 2, 1, 4], 4),
      memory: some([4, 4, 4, 1, 8], 5),
      disk: some([20, 20, 20, 5, 30], 6),
      ephemeral: drawn % 6 === 0,
    };
  }

  #sizes(): { cpu?: number; memory?: number; disk?: number } {
    const { dice } = this.#world;
    return {
      ...(dice.chance(0.5) ? { cpu: 1 + dice.below(6) } : {}),
      ...(dice.chance(0.5) ? { memory: 1 + dice.below(10) } : {}),
      ...(dice.chance(0.3) ? { disk: 5 + dice.below(40) } : {}),
    };
  }

  async #configure(services: Process['control']['services'], user: User, id: string): Promise<void> {
    const { dice } = this.#world;
    const autoDeleteMinutes = dice.oneOf([-1, -1, -1, 0, 60]);
    if (autoDeleteMinutes >= 0) this.expected.mayEnd(id);
    const autoStopMinutes = dice.oneOf([0, 1, 15]);
    const autoArchiveMinutes = dice.oneOf([0, 5, 10_080]);
    await services.sandboxes.configure(user, id, { autoStopMinutes, autoArchiveMinutes, autoDeleteMinutes });
  }

  /** Sets one, moves it earlier or later, or removes it; some pass at once, some while nothing runs. */
  async #setDeadline(services: Process['control']['services'], user: User, id: string): Promise<void> {
    const { dice } = this.#world;
    const action = dice.oneOf(['stop', 'stop', 'delete'] as const);
    if (action === 'delete') this.expected.mayEnd(id);
    const seconds = dice.oneOf([0, 1, 20, 300, 3_600]);
    await this.expected.movesDeadline(id, services.sandboxes.setDeadline(user, id, seconds, action));
  }

  async #write(process: Process, user: User, id: string): Promise<void> {
    const { stalls } = process;
    if (this.expected.filesOf(id).size >= MOST_FILES) return;
    const path = `file ${++this.#drawn}`;
    const unmoved = this.expected.unmoved(id);
    await process.control.services.files.write(user, id, {
      path,
      content: Buffer.from(path),
      createParents: false,
    });
    if (unmoved()) this.expected.written(id, path);
    const { time } = this.#world;
    // The others do not hear of uses at a replica that is suspended.
    if (process.stalls > stalls) return;
    this.expected.used(id, { at: time.now(), elapsedMs: time.elapsedMs });
  }

  async #snapshot(services: Process['control']['services'], user: User, kind: Kind): Promise<void> {
    const { dice } = this.#world;
    const name = `snap ${dice.below(6)}`;
    if (kind === 'dropSnapshot') return void (await services.snapshots.delete(user, name));
    const image = dice.oneOf([...pullable, 'no/such:image']);
    const key = dice.chance(0.5) ? `snapshot key ${name} ${image}` : undefined;
    await services.snapshots.create(user, { name, image, resources: {} }, key);
  }

  async #take(services: Process['control']['services'], user: User, id: string): Promise<void> {
    const files = [...this.expected.filesOf(id)];
    const unmoved = this.expected.unmoved(id);
    const name = `snap ${this.#world.dice.below(6)}`;
    const { id: snapshotId } = await services.sandboxSnapshots.take(user, id, name);
    this.expected.captured(snapshotId, unmoved() ? files : []);
  }

  async #createFrom(services: Process['control']['services'], user: User): Promise<void> {
    const own = [...this.#world.tables.snapshots.values()].filter(
      ({ ownerId, source }) => ownerId === user.id && source !== null,
    );
    if (own.length === 0) return;
    const { id: snapshot } = this.#world.dice.oneOf(own);
    const { name: _, image: __, ...request } = this.#request(1);
    const made = await services.sandboxes.create(user, { ...request, snapshot });
    this.#made(made);
    for (const path of this.expected.filesOf(snapshot)) this.expected.written(made.id, path);
  }

  async #fork(services: Process['control']['services'], user: User, id: string): Promise<void> {
    const files = [...this.expected.filesOf(id)];
    const unmoved = this.expected.unmoved(id);
    const forked = await services.forks.fork(user, id, { count: 1 + this.#world.dice.below(2) });
    for (const one of forked) {
      if (!('sandbox' in one)) continue;
      this.#made(one.sandbox);
      if (unmoved()) for (const path of files) this.expected.written(one.sandbox.id, path);
    }
  }

  /** To a snapshot of whichever sandbox: most do not fit, or are of this one. */
  async #rollBack(process: Process, user: User, id: string): Promise<void> {
    const own = [...this.#world.tables.snapshots.values()].filter(
      ({ ownerId, source }) => ownerId === user.id && source !== null,
    );
    if (own.length === 0) return;
    const { id: snapshot } = this.#world.dice.oneOf(own);
    const { done, broken } = this.expected.rollsBack(id, snapshot);
    const open = this.#rollbacks.get(process) ?? new Set();
    this.#rollbacks.set(process, open.add(broken));
    try {
      await process.control.services.rollbacks.rollBack(user, id, snapshot);
      if (open.delete(broken)) done();
    } finally {
      if (open.delete(broken)) broken();
    }
  }

  #some({ id }: User): Sandbox | null {
    const own = [...this.#world.tables.sandboxes.values()].filter(({ ownerId }) => ownerId === id);
    return own.length > 0 ? this.#world.dice.oneOf(own) : null;
  }
}

function expectNotFound(error: unknown): void {
  if (!(error instanceof SandhavenError)) throw error;
}

function faultOf(what: string, error: unknown): Violation {
  return new Violation(
    `${what} got an error without a type: ${error instanceof Error ? error.stack : error}`,
  );
}
