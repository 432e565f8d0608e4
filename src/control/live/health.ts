/**
 * Health of the service for its operators: room, sandboxes, the warm pool, pauses for want of disk, the process itself with a
 * short history, and the findings of the doctor. Figures of the host are of this process's own.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
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
  /** null where nothing can examine, in a process without a doctor; in a glance also before its first findings. */
  doctor: Examined | null;
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
  readonly #deps: HealthDependencies;
  readonly #delay = new LoopDelay();
  readonly #samples: HealthSample[] = [];
  readonly #doctor: Examinations;
  #timer: NodeJS.Timeout | null = null;

  constructor(dependencies: HealthDependencies) {
    this.#deps = dependencies;
    this.#doctor = new Examinations(dependencies.clock, dependencies.log);
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

  /** 99th percentile of the event loop's delay since the newest sample that is kept; 0 before there is any. */
  get loopDelayMs(): number {
    return this.#delay.longestMs() ?? 0;
  }

  /** Sets the examination of this host; a service without one has no findings. */
  examinedBy(examine: () => Promise<DoctorFinding[]>): void {
    this.#doctor.by(examine);
  }

  /** Resolves once the doctor has findings of the last minute. */
  look(): Promise<Health> {
    return this.#lookWith(this.#doctor.recent());
  }

  /** Looks without a wait for the doctor, with the newest findings there are. */
  glance(): Promise<Health> {
    return this.#lookWith(this.#doctor.known());
  }

  async #lookWith(examined: Promise<Examined | null> | Examined | null): Promise<Health> {
    const { store, runtime, pool } = this.#deps;
    const [capacity, total, started, resting, spares, doctor] = await Promise.all([
      runtime.capacity(),
      this.#count({}),
      this.#count({ state: 'started' }),
      store.schedulable(),
      store.pool(),
      examined,
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
    return (await this.#deps.everybody.list(filter, { page: 1, pageSize: 1 })).totalCount;
  }

  async #keep(): Promise<void> {
    try {
      this.#samples.push(this.#sampleOf(await this.#deps.runtime.capacity()));
      if (this.#samples.length > limits.health.samples) this.#samples.shift();
      this.#delay.reset();
    } catch (error) {
      this.#deps.log.warn('the capacity could not be measured', { error });
    }
  }

  #sampleOf({ freeMemoryBytes, freeDiskBytes }: Capacity): HealthSample {
    return {
      ...{ time: this.#deps.clock.now(), freeMemoryBytes, freeDiskBytes },
      residentBytes: process.memoryUsage.rss(),
      loopDelayMs: this.loopDelayMs,
    };
  }
}

const RESOLUTION_MS = 20;

/**
 * Delay of the event loop: by how much turns come late. The histogram of Node counts the whole time between two
 * looks, so its resolution is taken off; a coarse one wakes an idle process less often.
 */
export class LoopDelay {
  readonly #histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  begin(): void {
    this.#histogram.enable();
  }

  /** Begins a new series. */
  reset(): void {
    this.#histogram.reset();
  }

  close(): void {
    this.#histogram.disable();
  }

  /** Returns the 99th percentile of the series, to a tenth; null before its first look. */
  longestMs(): number | null {
    if (this.#histogram.count === 0) return null;
    const lateNs = this.#histogram.percentile(99) - RESOLUTION_MS * 1e6;
    return Math.max(0, Math.round(lateNs / 1e5) / 10);
  }
}

// Findings of the doctor. Its checks start programs, so they are made once for all who ask within a minute, and one at a time.

export interface DoctorFinding {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  found: string;
  advice?: string;
}

export interface Examined {
  checkedAt: number;
  findings: DoctorFinding[];
}

type Examine = () => Promise<DoctorFinding[]>;

export class Examinations {
  readonly #clock: Clock;
  readonly #log: Log;
  #examine: Examine | null = null;
  #running: Promise<Examined> | null = null;
  #begunAt = Number.NEGATIVE_INFINITY;
  #known: Examined | null = null;
  /** The failure of unasked examinations was logged. */
  #isLogged = false;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Sets the examination of this host. */
  by(examine: Examine): void {
    this.#examine = examine;
  }

  /** Resolves to findings that are a minute old at most; null where nothing can examine. A failure is tried again at once. */
  async recent(): Promise<Examined | null> {
    if (this.#running || !this.#examine) return this.#running;
    if (this.#known && !this.#isOld(this.#known.checkedAt)) return this.#known;
    return this.#begin(this.#examine);
  }

  /**
   * Returns the newest findings at once, and begins to make new ones a minute after the beginning of the last attempt. Null
   * before there are any.
   */
  known(): Examined | null {
    if (this.#examine && !this.#running && this.#isOld(this.#begunAt))
      this.#begin(this.#examine).catch((error: unknown) => {
        if (!this.#isLogged) this.#log.warn('the doctor could not examine this host', { error });
        this.#isLogged = true;
      });
    return this.#known;
  }

  #isOld(since: number): boolean {
    return since + limits.health.doctorMs <= this.#clock.now();
  }

  #begin(examine: Examine): Promise<Examined> {
    this.#begunAt = this.#clock.now();
    this.#running = this.#run(examine, this.#begunAt).finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #run(examine: Examine, checkedAt: number): Promise<Examined> {
    const found = await examine();
    this.#known = { checkedAt, findings: found.slice(0, limits.health.findings).map(bounded) };
    this.#isLogged = false;
    return this.#known;
  }
}

/** Texts may be of a program that failed, and a finding is sent again and again. */
function bounded({ name, status, found, advice }: DoctorFinding): DoctorFinding {
  const most = limits.health.findingChars;
  const finding = { name, status, found: found.slice(0, most) };
  return advice === undefined ? finding : { ...finding, advice: advice.slice(0, most) };
}
