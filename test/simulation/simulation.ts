/**
 * The core of the service under random callers, clocks, failures and kills. One step lets one thing happen: an answer
 * arrives, a call begins, time passes, a machine dies, the process is killed. After each, the invariants hold; every so
 * often everything rests, and then nothing may be left to do.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SandhavenError } from '../../src/model/errors.ts';
import { Callers } from './callers.ts';
import { drawFrom } from './core/dice.ts';
import type { Strike } from './core/effects.ts';
import { Expectations } from './expectations.ts';
import { Invariants } from './invariants.ts';
import { rest } from './rest.ts';
import { Violation } from './violation.ts';
import { ACTIVITY_STORED_MS, type Process, World } from './world.ts';

export interface Outcome {
  seed: number;
  steps: number;
  kills: number;
  restarts: number;
  calls: number;
  /** Sandboxes that were put in error by a lost node, and those of them that were started again. */
  lost: { settled: number; startedAgain: number };
  /** null: nothing that must not happen has happened. */
  violation: string | null;
  /** The last events before the end. */
  trace: string[];
}

const weights = {
  deliver: 70,
  call: 14,
  pass: 12,
  skip: 0.6,
  jump: 0.2,
  death: 0.5,
  node: 1,
  room: 0.4,
  mood: 0.3,
  kill: 0.5,
  powerCut: 0.15,
  restart: 0.1,
  stall: 0.3,
};
const STEPS_BETWEEN_RESTS = 1_500;
const TRACED = 300;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const WEEK_MS = 7 * 24 * HOUR_MS;

/** @param replicas Processes over one store; 1: one that serves alone. */
export async function simulate(seed: number, steps: number, replicas = 1): Promise<Outcome> {
  const simulation = new Simulation(seed, replicas);
  return simulation.run(steps);
}

class Simulation {
  readonly #seed: number;
  readonly #trace: string[] = [];
  readonly #world: World;
  readonly #expected = new Expectations();
  readonly #callers: Callers;
  readonly #invariants: Invariants;
  readonly #counts = { kills: 0, restarts: 0, calls: 0 };
  /** By the monotonic clock, in ms: when the store could last refuse a write. */
  #troubleAt = 0;

  constructor(seed: number, replicas: number) {
    this.#seed = seed;
    const note = (line: string) => this.#note(line);
    this.#world = new World(seed, replicas, note);
    this.#callers = new Callers(this.#world, this.#expected, note);
    this.#invariants = new Invariants(this.#world, this.#expected, note);
  }

  async run(steps: number): Promise<Outcome> {
    const world = this.#world;
    const giveBack = [world.time.install(), drawFrom(world.dice)];
    let step = 0;
    let violation: string | null = null;
    try {
      await world.enrol('alice', 'bob');
      for (; step < steps; step++) {
        await this.#step();
        if ((step + 1) % STEPS_BETWEEN_RESTS === 0) await this.#rest();
      }
      await this.#rest();
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      violation = error.message;
    } finally {
      world.killAll();
      for (const undo of giveBack) undo();
    }
    return {
      seed: this.#seed,
      steps: step,
      ...this.#counts,
      lost: this.#invariants.lost,
      violation,
      trace: this.#trace,
    };
  }

  async #step(): Promise<void> {
    const world = this.#world;
    const { dice, time } = world;
    const process = this.#some();
    switch (dice.weighted(weights)) {
      case 'deliver':
        if (!process.stalled && process.effects.size > 0) {
          this.#note(process.effects.deliverOne(dice, this.#strike));
        }
        break;
      case 'call':
        if (!process.serves || process.stalled) break;
        this.#counts.calls++;
        world.time.of(process.effects, () => this.#callers.begin(process));
        break;
      case 'pass':
        time.pass(dice.oneOf([1, 20, 300, 5_000]));
        break;
      case 'skip':
        time.pass(dice.oneOf([MINUTE_MS, 20 * MINUTE_MS]));
        break;
      case 'jump':
        this.#jump();
        break;
      case 'death':
        this.#death();
        break;
      case 'node':
        this.#node();
        break;
      case 'room':
        this.#room();
        break;
      case 'mood':
        world.failing = dice.oneOf([0, 0, 0.01, 0.1]);
        break;
      case 'kill':
        this.#expected.killed(this.#storedUntil(ACTIVITY_STORED_MS));
        this.#end('kill', [process], () => world.kill(process));
        break;
      case 'powerCut':
        this.#expected.killed(0);
        this.#end('power cut', [...world.processes], () => world.cutPower());
        break;
      case 'restart':
        await this.#restart(process);
        break;
      case 'stall':
        this.#stall(process);
    }
    await this.#settled();
  }

  /** Lets everything run that waits for nothing outside, and looks. */
  async #settled(): Promise<void> {
    await nextTurn();
    const { failing, storeIsFull, time } = this.#world;
    if (failing > 0 || storeIsFull) this.#troubleAt = time.elapsedMs;
    this.#invariants.check();
    if (this.#callers.fault) throw this.#callers.fault;
  }

  /** Returns one of the processes, started when it is not there. */
  #some(): Process {
    const world = this.#world;
    const at = world.dice.below(world.most);
    const process = world.processes[at];
    if (process) return process;
    this.#note('the service starts');
    return world.boot();
  }

  /** Suspends a replica beside others, or lets it go on. */
  #stall(process: Process): void {
    const world = this.#world;
    if (world.most === 1) return;
    this.#note(process.stalled ? 'a replica goes on' : 'a replica is suspended');
    if (process.stalled) {
      world.resume(process);
      return;
    }
    // Uses that it has not stored yet are not known to the others.
    this.#expected.killed(this.#storedUntil(ACTIVITY_STORED_MS));
    world.stall(process);
  }

  #end(how: string, ended: Process[], end: () => void): void {
    this.#note(how);
    this.#counts.kills++;
    end();
    this.#callers.broken(ended);
    this.#invariants.restart();
  }

  /** Returns the time until which uses are stored for sure, by the monotonic clock, in ms. */
  #storedUntil(delayMs: number): number {
    const until = this.#world.time.elapsedMs - delayMs;
    return this.#troubleAt >= until ? 0 : until;
  }

  #jump(): void {
    const ms = this.#world.dice.oneOf([-HOUR_MS, HOUR_MS, WEEK_MS + HOUR_MS]);
    this.#note(`the clock jumps by ${ms / MINUTE_MS} minutes`);
    this.#world.time.jump(ms);
  }

  #death(): void {
    const { host, dice } = this.#world;
    // What happens on a node that is away is seen when it is back.
    const running = [...host.sandboxes.keys()].filter((id) => host.running(id) && !host.isAway(id));
    if (running.length === 0) return;
    const id = dice.oneOf(running);
    this.#note(`PID 1 of ${id} ends`);
    host.endInit(id);
  }

  /** Takes a node away, or brings one back: with its machines, without some of them, or as a new one. */
  #node(): void {
    const { host, dice, nodeLoss } = this.#world;
    if (nodeLoss === null) return;
    const [away] = host.away;
    if (away === undefined) {
      const node = dice.oneOf(host.nodes());
      this.#note(`node ${node} does not answer`);
      host.away.add(node);
      return;
    }
    const share = dice.oneOf([0, 0.5, 1]);
    this.#note(`node ${away} is back, without ${share} of its machines`);
    host.bringBack(away, () => dice.chance(share));
  }

  #room(): void {
    const world = this.#world;
    const { dice, host } = world;
    host.freeDiskGb = dice.oneOf([0, 2, 100, 500, 500]);
    host.freeMemoryGb = dice.oneOf([0, 64, 64]);
    world.storeIsFull = dice.chance(0.2);
    this.#note(
      `room: ${host.freeDiskGb} GB of disk, ${host.freeMemoryGb} of memory, full ${world.storeIsFull}`,
    );
  }

  readonly #strike: Strike = (label) => {
    const { dice, failing } = this.#world;
    if (failing === 0 || !dice.chance(failing)) return null;
    const untyped = label.startsWith('engine: ') && label !== 'engine: observe';
    if (untyped && dice.chance(0.3)) return Object.assign(new Error('no space'), { code: 'ENOSPC' });
    if (untyped) return new Error('the host fails');
    return new SandhavenError('unavailable', `A failure of ${label}.`, {});
  };

  /** Ends the process as SIGTERM does. */
  async #restart(process: Process): Promise<void> {
    const world = this.#world;
    if (!process.serves || process.stalled) return;
    this.#note('the service is stopped');
    this.#counts.restarts++;
    const { effects, control } = process;
    let closed = false;
    const close = world.time
      .of(effects, () => control.close())
      .then(
        () => {
          closed = true;
        },
        (error: unknown) => {
          this.#note(`close: ${error}`);
          closed = true;
        },
      );
    for (let turn = 0; !closed; turn++) {
      if (turn > 10_000) throw new Violation(`the service does not close: ${effects.labels()}`);
      // It may wait for an operation of another replica.
      const waiting = world.processes.filter((each) => !each.stalled && each.effects.size > 0);
      if (waiting.length > 0) {
        this.#note(world.dice.oneOf(waiting).effects.deliverOne(world.dice, this.#strike));
      } else world.time.pass(world.time.untilNextMs() ?? 1);
      await this.#settled();
    }
    await close;
    this.#expected.killed(this.#storedUntil(world.most === 1 ? 0 : ACTIVITY_STORED_MS));
    this.#end('closed', [process], () => world.kill(process));
  }

  async #rest(): Promise<void> {
    this.#note('rest');
    const world = this.#world;
    world.failing = 0;
    world.storeIsFull = false;
    Object.assign(world.host, { freeDiskGb: 500, freeMemoryGb: 64 });
    for (const node of [...world.host.away]) world.host.bringBack(node, () => false);
    for (const process of world.processes) world.resume(process);
    world.bootAll();
    await rest(
      world,
      this.#callers,
      () => this.#settled(),
      (line) => this.#note(line),
    );
  }

  #note(line: string): void {
    this.#trace.push(line);
    if (this.#trace.length > 2 * TRACED) this.#trace.splice(0, TRACED);
  }
}
