/**
 * Figures of this process for its metrics. The parts keep plain numbers where these arise; a look collects them, from memory
 * but for the capacity of the host and the promised disk space, whose answers it waits for within a bound.
 */
import type { QueueLoad } from '../../concurrency/keyed-queue.ts';
import type { Load } from '../../fairness/shares.ts';
import { GiB, limits } from '../../model/limits.ts';
import type { AuditService } from '../audit/audit.ts';
import type { AuditReport } from '../audit/report.ts';
import type { Turn } from '../base/last-turn.ts';
import type { IdentityService } from '../callers/identity.ts';
import type { HealthService } from '../health/health.ts';
import type { Creation } from '../lifecycle/creation.ts';
import type { Census, Scheduler } from '../lifecycle/scheduler.ts';
import type { TrafficWatch } from '../network/traffic/traffic-watch.ts';
import type { PoolState, WarmPool } from '../pool/pool.ts';
import type { Capacity, Replicas, Runtime, Store, StoreConnections } from '../ports/index.ts';
import { AnswerTally, type StatusClass } from './answer-tally.ts';
import { AskedFigure } from './asked-figure.ts';
import { type ActionTally, CallTally } from './call-tally.ts';
import { Loads, type ShareName } from './loads.ts';

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
  /** Shares of users; each gateway adds its own. */
  readonly loads = new Loads();
  readonly previewAnswers = new AnswerTally();

  constructor(sources: MetricSources) {
    this.#sources = sources;
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
