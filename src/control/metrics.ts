/**
 * Figures of this process for its metrics. The parts keep plain numbers where these arise; a look collects them, from memory
 * but for the capacity of the host and the promised disk space, whose answers it waits for within a bound.
 */
import { within } from '../concurrency/deadline.ts';
import type { QueueLoad } from '../concurrency/keyed-queue.ts';
import type { Load } from '../fairness/shares.ts';
import type { AuditOutcome } from '../model/audit.ts';
import { GiB, limits } from '../model/limits.ts';
import type { AuditService } from './audit/audit.ts';
import type { AuditReport } from './audit/verification.ts';
import { callBounds, DurationTally, type Turn } from './base/tallies.ts';
import type { IdentityService } from './callers/identity.ts';
import type { Creation } from './lifecycle/creation.ts';
import type { Census, Scheduler } from './lifecycle/scheduler.ts';
import type { HealthService } from './live/health.ts';
import type { TrafficWatch } from './network/traffic/traffic-watch.ts';
import type { PoolState, WarmPool } from './pool/pool.ts';
import type { Capacity, Replicas, Runtime, Store, StoreConnections } from './ports/index.ts';

export interface MetricSources {
  store: Pick<Store, 'connections'> & { sandboxes: Pick<Store['sandboxes'], 'promisedDiskGb'> };
  runtime: Pick<Runtime, 'capacity'>;
  audit: Pick<AuditService, 'onCall' | 'lastReport'>;
  creation: Pick<Creation, 'made'>;
  pool: Pick<WarmPool, 'state'>;
  queue: { load(): QueueLoad };
  scheduler: Pick<Scheduler, 'lastTurn' | 'census'>;
  /** Returns the last turn of the reconciler. */
  reconciled(): Turn | null;
  identity: Pick<IdentityService, 'refusedByRate'>;
  health: Pick<HealthService, 'loopDelayMs'>;
  replicas: Pick<Replicas, 'shared' | 'count' | 'lease'>;
  /** Absent or null where nobody counts traffic. */
  traffic?: Pick<TrafficWatch, 'figures'> | null;
}

export interface Figures {
  calls: ReadonlyMap<string, ActionTally>;
  creations: Creation['made'];
  pool: PoolState;
  /** null before the first look of the scheduler. */
  census: Census | null;
  operations: QueueLoad;
  turns: { scheduler: Turn | null; reconciler: Turn | null };
  shares: ReadonlyMap<ShareName, Load>;
  refusedByRate: number;
  previewAnswers: ReadonlyMap<StatusClass, number>;
  /** null, like the next, where the answer was late. */
  capacity: Capacity | null;
  promisedDiskBytes: number | null;
  /** null without a database server. */
  storeConnections: StoreConnections | null;
  loopDelayMs: number;
  /** null in a process that is alone. */
  replicas: { live: number; isLeased: boolean } | null;
  /** null before the first verification of the audit log in this process. */
  audit: Pick<AuditReport, 'intact' | 'eventsLost'> | null;
  /** null where nobody counts traffic. */
  traffic: TrafficWatch['figures'] | null;
}

export class Metrics {
  readonly #sources: MetricSources;
  readonly #calls = new CallTally();
  readonly #capacity: AskedFigure<Capacity>;
  readonly #promised: AskedFigure<number>;
  /** Shares of users; each surface adds its own. */
  readonly loads = new Loads();
  readonly previewAnswers = new AnswerTally();

  /** @param loads Shares of the control layer. */
  constructor(sources: MetricSources, loads: Partial<Record<ShareName, Load>> = {}) {
    this.#sources = sources;
    for (const [name, load] of Object.entries(loads)) this.loads.watch(name as ShareName, load);
    const { keptMs, promisedKeptMs } = limits.metrics;
    this.#capacity = new AskedFigure(keptMs, () => sources.runtime.capacity());
    this.#promised = new AskedFigure(promisedKeptMs, () => sources.store.sandboxes.promisedDiskGb());
    sources.audit.onCall((...call) => this.#calls.note(...call));
  }

  async look(): Promise<Figures> {
    const [capacity, promisedGb] = await Promise.all([this.#capacity.read(), this.#promised.read()]);
    const { store, audit, creation, pool, queue, scheduler, identity, health, replicas } = this.#sources;
    return {
      calls: this.#calls.byAction,
      creations: creation.made,
      pool: pool.state,
      census: scheduler.census,
      operations: queue.load(),
      turns: { scheduler: scheduler.lastTurn, reconciler: this.#sources.reconciled() },
      shares: this.loads.all,
      refusedByRate: identity.refusedByRate,
      previewAnswers: this.previewAnswers.byClass,
      capacity,
      promisedDiskBytes: promisedGb === null ? null : promisedGb * GiB,
      storeConnections: store.connections?.() ?? null,
      loopDelayMs: health.loopDelayMs,
      replicas: replicas.shared ? { live: replicas.count, isLeased: !replicas.lease.aborted } : null,
      audit: audit.lastReport,
      traffic: this.#sources.traffic?.figures ?? null,
    };
  }
}

/**
 * A figure that has to be asked for: kept for a while, asked by one at a time, and left out when its answer is late.
 */
export class AskedFigure<T> {
  readonly #ask: () => Promise<T>;
  readonly #keptMs: number;
  #known: { value: T; at: number } | null = null;
  #asking: Promise<T | null> | null = null;

  constructor(keptMs: number, ask: () => Promise<T>) {
    this.#keptMs = keptMs;
    this.#ask = ask;
  }

  /** Resolves to null where the answer fails, or takes too long. Never rejects. */
  async read(): Promise<T | null> {
    if (this.#known && performance.now() - this.#known.at < this.#keptMs) return this.#known.value;
    this.#asking ??= this.#asked().finally(() => {
      this.#asking = null;
    });
    return within(limits.metrics.askMs, this.#asking, () => null);
  }

  async #asked(): Promise<T | null> {
    try {
      const value = await this.#ask();
      this.#known = { value, at: performance.now() };
      return value;
    } catch {
      // Its metric is missing then; callers who need the answer get the cause.
      return null;
    }
  }
}

/** Loads of the shares of users, by name: what of a share is taken, and how often somebody was refused. */
const shareNames = [
  'requests',
  'event_streams',
  'terminals',
  'processes',
  'file_watches',
  'tunnels',
  'previews',
  'file_previews',
  'ssh',
  'git',
] as const;
export type ShareName = (typeof shareNames)[number];

class Loads {
  readonly #watched = new Map<ShareName, Load>();

  /** Called once for each name, by who bounds it. */
  watch(name: ShareName, load: Load): void {
    this.#watched.set(name, load);
  }

  get all(): ReadonlyMap<ShareName, Load> {
    return this.#watched;
  }
}

/** Answers of a gateway by the class of their status. */
const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;
type StatusClass = (typeof statusClasses)[number];

export class AnswerTally {
  readonly #counts = new Map<StatusClass, number>(statusClasses.map((name) => [name, 0]));

  /** A status that HTTP does not know counts as a fault of the server. */
  note(status: number): void {
    const name = statusClasses[Math.floor(status / 100) - 1] ?? '5xx';
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  get byClass(): ReadonlyMap<StatusClass, number> {
    return this.#counts;
  }
}

/** Calls by action and outcome, with their durations. Actions are names of the code, never of a caller's. */
interface ActionTally {
  readonly durations: DurationTally;
  readonly outcomes: ReadonlyMap<AuditOutcome, number>;
}

interface Entry extends ActionTally {
  readonly outcomes: Map<AuditOutcome, number>;
}

export class CallTally {
  readonly #byAction = new Map<string, Entry>();

  /** Leaves out an action beyond the bound: no defect elsewhere makes this grow. */
  note(action: string, outcome: AuditOutcome, durationMs: number): void {
    const entry = this.#byAction.get(action) ?? this.#first(action);
    if (!entry) return;
    entry.durations.add(durationMs);
    entry.outcomes.set(outcome, (entry.outcomes.get(outcome) ?? 0) + 1);
  }

  get byAction(): ReadonlyMap<string, ActionTally> {
    return this.#byAction;
  }

  #first(action: string): Entry | null {
    if (this.#byAction.size >= limits.metrics.actions) return null;
    const entry = { durations: new DurationTally(callBounds), outcomes: new Map() };
    this.#byAction.set(action, entry);
    return entry;
  }
}
