/** All that is simulated: what outlives the service (host, rows, time, chance) and its present process. */
import { wire } from '../../src/app/wiring.ts';
import { AccessService } from '../../src/control/access/tokens.ts';
import type { AuditService } from '../../src/control/audit/audit.ts';
import { assertTenure } from '../../src/control/base/tenure.ts';
import type { AgentLink, Log, Store } from '../../src/control/ports/index.ts';
import type { KubernetesOptions } from '../../src/model/kubernetes-options.ts';
import type { NodeLoss } from '../../src/model/lost-node.ts';
import type { Quota } from '../../src/model/quota.ts';
import type { User } from '../../src/model/user.ts';
import { memoryStore, type Tables } from '../store/memory/memory-store.ts';
import { Dice } from './core/dice.ts';
import { Effects } from './core/effects.ts';
import { Journal, JournaledMap } from './core/journal.ts';
import { VirtualTime } from './core/virtual-time.ts';
import { createFakeAgent } from './host/fake-agent.ts';
import { gatedStore } from './host/gated-store.ts';
import { MemoryHost } from './host/memory-host.ts';
import { createMemoryImages } from './host/memory-images.ts';
import { type Bus, memoryReplicas } from './host/memory-replicas.ts';
import { createMemoryRuntime } from './host/memory-runtime.ts';

type Control = ReturnType<typeof wire>;

export interface Process {
  effects: Effects;
  control: Control;
  /** false until it has reconciled: it takes no calls before. */
  serves: boolean;
  /** true: suspended; nothing of it runs. */
  stalled: boolean;
  /** Number of times that it was suspended. */
  stalls: number;
}

export const quota: Quota = { sandboxes: 6, cpu: 14, memory: 28, disk: 130, snapshots: 4 };
/** Twice the time after which the activity of sandboxes is stored. */
export const ACTIVITY_STORED_MS = 10_000;
const START_MS = Date.UTC(2030, 0, 1);
/** Follows demand, so that sandboxes are both added and given back. */
const POOL = { min: 1, max: 3 };
/** Unused images go at each turn of the collector. */
const IMAGE_KEPT_MINUTES = 0;

export class World {
  readonly dice: Dice;
  readonly time = new VirtualTime(START_MS);
  readonly host = new MemoryHost();
  readonly journal = new Journal();
  readonly tables: Tables = {
    sandboxes: new JournaledMap(this.journal),
    snapshots: new JournaledMap(this.journal),
    answers: new JournaledMap(this.journal),
    held: new JournaledMap(this.journal),
    replicas: null,
  };
  readonly users: User[] = [];
  storeIsFull = false;
  /** Probability that a point, or a write of the store, fails. */
  failing = 0;
  /** The living processes. */
  readonly processes: Process[] = [];
  /** Processes that serve together; 1: one that serves alone. */
  readonly most: number;
  readonly #store: Store = memoryStore(this.tables);
  readonly #bus: Bus = new Set();
  readonly #note: (line: string) => void;
  /** Of a host that is a cluster; null for one machine. */
  readonly nodeLoss: NodeLoss | null;

  /** @param note Takes a line about each event. */
  constructor(seed: number, replicas: number, note: (line: string) => void) {
    this.dice = new Dice(seed);
    this.most = replicas;
    if (replicas > 1) this.tables.replicas = new Map();
    this.#note = note;
    const isCluster = replicas > 1 || this.dice.chance(0.5);
    this.nodeLoss = isCluster ? { afterMs: 5_000, restarts: this.dice.chance(0.5) } : null;
  }

  async enrol(...names: string[]): Promise<void> {
    for (const name of names) {
      const user = { id: `user_${name}`, name, email: `${name}@example.com` };
      await this.#store.users.insertUser({
        ...user,
        role: 'member',
        createdAt: 0,
        disabledAt: null,
        quota: {},
      });
      this.users.push(user);
    }
  }

  /** Starts a process of the service over what earlier ones have left. */
  boot(): Process {
    const effects = new Effects();
    const { process, begin } = this.time.of(effects, () => this.#assemble(effects));
    this.processes.push(process);
    this.time.of(effects, begin).catch((error: unknown) => {
      this.#note(`the start failed: ${error}`);
      this.kill(process);
    });
    return process;
  }

  /** Starts what is missing. */
  bootAll(): void {
    while (this.processes.length < this.most) this.boot();
  }

  /** Ends the process where it stands. Everything that it waited for never comes. */
  kill(process: Process): void {
    process.effects.kill();
    this.time.clear(process.effects);
    const at = this.processes.indexOf(process);
    if (at >= 0) this.processes.splice(at, 1);
  }

  killAll(): void {
    for (const process of [...this.processes]) this.kill(process);
  }

  /**
   * Ends the process and all machines, and loses rows that are not settled: a prefix of the writes survives. The store of
   * several processes lies elsewhere and loses none.
   */
  cutPower(): void {
    this.killAll();
    this.host.reboot();
    if (this.most === 1) this.journal.cut(this.dice.below(this.journal.unsettled + 1));
  }

  stall(process: Process): void {
    process.stalled = true;
    process.stalls += 1;
    this.time.stall(process.effects);
  }

  resume(process: Process): void {
    process.stalled = false;
    this.time.resume(process.effects);
  }

  #assemble(effects: Effects): { process: Process; begin(): Promise<void> } {
    const process: Process = {
      effects,
      control: this.#wire(effects),
      serves: false,
      stalled: false,
      stalls: 0,
    };
    const begin = async () => {
      await process.control.reconcile();
      process.control.scheduler.begin();
      // Several replicas leave images to the nodes that pull them.
      if (this.most === 1) process.control.collector.begin();
      process.control.pool.refill(0);
      process.serves = true;
    };
    return { process, begin };
  }

  #fails(): boolean {
    return this.failing > 0 && this.dice.chance(this.failing);
  }

  #wire(effects: Effects): Control {
    const { host, time: clock, journal } = this;
    const point = (label: string) => effects.point(label);
    const answer = (label: string) => effects.answer(label);
    const { replicas } = this.tables;
    const alike = replicas
      ? memoryReplicas({
          table: replicas,
          time: clock,
          dice: this.dice,
          bus: this.#bus,
          full: () => this.storeIsFull,
        })
      : null;
    const store = gatedStore(alike ? { ...this.#store, replicas: alike } : this.#store, {
      journal,
      answer,
      full: () => this.storeIsFull || this.#fails(),
    });
    const log = this.#log();
    // Until the service has put them in force again, machines of an earlier process reach nothing.
    if (this.most === 1) host.networks.clear();
    const engine = {
      runtime: createMemoryRuntime({
        ...{ host, point, networkPolicies: this.most === 1 },
        fence: () => alike && assertTenure(alike),
      }),
      images: createMemoryImages({ host, clock, point }),
      agent: createFakeAgent({ host, point, answer, idleMs: () => null }) as AgentLink,
    };
    const access = new AccessService({ tokens: store.accessTokens, clock, previewKey: Buffer.alloc(32) });
    return wire(
      {
        ...{ store, access, documents: null, host: null, memberQuota: quota, challengeKey: Buffer.alloc(32) },
        engine: engine as Parameters<typeof wire>[0]['engine'],
        // Visits and previews, which write to it, are not part of the simulation.
        audit: { onCall() {} } as unknown as AuditService,
      },
      {
        ...{ dataDir: '', warmPool: POOL, imageKeptMinutes: IMAGE_KEPT_MINUTES, auditKeptDays: 0 },
        ...{ apiKey: undefined, clock, log },
        kubernetes: this.nodeLoss && ({ nodeLoss: this.nodeLoss } as KubernetesOptions),
      },
    );
  }

  #log(): Log {
    const line = (message: string, { sandbox = '', error = '' }: Record<string, unknown> = {}) =>
      this.#note(`log: ${message} ${sandbox} ${error}`);
    return { info: () => {}, warn: line, error: line };
  }
}
