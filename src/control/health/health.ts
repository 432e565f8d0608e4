/**
 * Health of the service for its operators: room, sandboxes, the warm pool, pauses for want of disk, the process itself with a
 * short history, and the findings of the doctor. Figures of the host are of this process's own.
 */
import { limits } from '../../model/limits.ts';
import type {
  Capacity,
  Clock,
  EverybodyFilter,
  EverybodyStore,
  Log,
  Runtime,
  SandboxStore,
} from '../ports/index.ts';
import { LoopDelay } from './loop-delay.ts';

export interface DoctorFinding {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  found: string;
  advice?: string;
}

/** One moment of the history. */
export interface HealthSample {
  time: number;
  freeMemoryBytes: number;
  freeDiskBytes: number;
  residentBytes: number;
  /** 99th percentile of the event loop's delay since the sample before. */
  loopDelayMs: number;
}

export interface Health {
  capacity: Capacity;
  sandboxes: { total: number; started: number; paused: number };
  pool: { ready: number; min: number; max: number };
  /** Oldest first, the last one of this moment. */
  samples: HealthSample[];
  /** null where nothing can examine: in a process without a doctor. */
  doctor: { checkedAt: number; findings: DoctorFinding[] } | null;
}

export interface HealthDependencies {
  store: Pick<SandboxStore, 'schedulable' | 'pool'>;
  everybody: EverybodyStore;
  runtime: Pick<Runtime, 'capacity' | 'pausedReason'>;
  pool: { min: number; max: number };
  clock: Clock;
  log: Log;
}

export class HealthService {
  readonly #d: HealthDependencies;
  readonly #delay = new LoopDelay();
  readonly #samples: HealthSample[] = [];
  #timer: NodeJS.Timeout | null = null;
  #examine: (() => Promise<DoctorFinding[]>) | null = null;
  #examined: { checkedAt: number; findings: Promise<DoctorFinding[]> } | null = null;

  constructor(dependencies: HealthDependencies) {
    this.#d = dependencies;
  }

  /** Begins the history. */
  begin(): void {
    this.#delay.begin();
    this.#timer = setInterval(() => void this.#keep(), limits.health.sampleMs);
    this.#timer.unref();
  }

  close(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#delay.close();
  }

  /** Called once by who can examine this host. */
  examinedBy(examine: () => Promise<DoctorFinding[]>): void {
    this.#examine = examine;
  }

  async look(): Promise<Health> {
    const { store, runtime, pool } = this.#d;
    const [capacity, total, started, resting, spares, doctor] = await Promise.all([
      runtime.capacity(),
      this.#count({}),
      this.#count({ state: 'started' }),
      store.schedulable(),
      store.pool(),
      this.#findings(),
    ]);
    const paused = resting.filter(
      ({ id, state }) => state === 'started' && runtime.pausedReason(id) !== null,
    );
    const ready = spares.filter(({ state, operation }) => state === 'started' && operation === null);
    return {
      capacity,
      sandboxes: { total, started, paused: paused.length },
      pool: { ready: ready.length, min: pool.min, max: pool.max },
      samples: [...this.#samples, this.#sampleOf(capacity)],
      doctor,
    };
  }

  /** Counts those at work on an operation, too. */
  async #count(filter: EverybodyFilter): Promise<number> {
    return (await this.#d.everybody.list(filter, { page: 1, pageSize: 1 })).totalCount;
  }

  /** The checks start programs, so they are made once for all who ask within a minute. */
  async #findings(): Promise<Health['doctor']> {
    const examine = this.#examine;
    if (!examine) return null;
    const now = this.#d.clock.now();
    if (!this.#examined || this.#examined.checkedAt + limits.health.doctorMs <= now)
      this.#examined = { checkedAt: now, findings: examine() };
    const { checkedAt, findings } = this.#examined;
    try {
      return { checkedAt, findings: await findings };
    } catch (error) {
      this.#examined = null;
      throw error;
    }
  }

  async #keep(): Promise<void> {
    try {
      this.#samples.push(this.#sampleOf(await this.#d.runtime.capacity()));
      if (this.#samples.length > limits.health.samples) this.#samples.shift();
      this.#delay.reset();
    } catch (error) {
      this.#d.log.warn('the capacity could not be measured', { error });
    }
  }

  #sampleOf({ freeMemoryBytes, freeDiskBytes }: Capacity): HealthSample {
    return {
      ...{ time: this.#d.clock.now(), freeMemoryBytes, freeDiskBytes },
      residentBytes: process.memoryUsage.rss(),
      loopDelayMs: this.#delay.longestMs() ?? 0,
    };
  }
}
