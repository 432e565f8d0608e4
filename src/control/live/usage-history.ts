/**
 * History of use: for each started sandbox a ring of samples one hour long, in memory, and what the kernel has killed in it for want of
 * memory. It outlives the run, so that the cause of its end can be seen, and ends with the service.
 *
 * Invariant: rings are of one size, and their number is bounded, in all and for each owner; at the bound the one gives way that was
 * measured longest ago, of the owner's own first. A sandbox that sleeps is not read: it uses no processor.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { limits } from '../../model/limits.ts';
import type { User } from '../../model/user.ts';
import type { Clock, Log, Runtime, SandboxStore, SandboxUsage } from '../ports/index.ts';
import { resolveSandbox } from '../turns/resolve.ts';

const { stepMs, perOwner, total, events: mostEvents } = limits.usage.history;

/** Processes that the kernel has killed since the sample before. */
export interface OutOfMemory {
  /** Milliseconds since the epoch. */
  at: number;
  killed: number;
  /** Name of the last one, as it calls itself; null when the kernel's log does not have it. */
  process: string | null;
}

export interface HistoryOfUse {
  sandboxId: string;
  samples: UsageSample[];
  outOfMemory: OutOfMemory[];
}

export interface UsageHistoryDependencies {
  store: Pick<SandboxStore, 'schedulable'> & Parameters<typeof resolveSandbox>[0];
  runtime: Pick<Runtime, 'usage' | 'sleep' | 'killedLast'>;
  clock: Clock;
  log: Log;
}

interface Kept {
  ownerId: string | null;
  ring: Ring;
  oomKills: number | null;
  outOfMemory: OutOfMemory[];
}

export class UsageHistory {
  readonly #deps: UsageHistoryDependencies;
  /** The one that was measured longest ago first. */
  readonly #kept = new Map<string, Kept>();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #turn: Promise<void> = Promise.resolve();

  constructor(dependencies: UsageHistoryDependencies) {
    this.#deps = dependencies;
  }

  begin(): void {
    this.#timer = setTimeout(() => {
      this.#turn = this.turn().finally(() => {
        if (this.#timer) this.begin();
      });
    }, stepMs).unref();
  }

  async close(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#turn;
  }

  /** Measures each started sandbox once. */
  async turn(): Promise<void> {
    const { store, log } = this.#deps;
    try {
      for (const { id, ownerId, state } of await store.schedulable()) {
        if (state !== 'started') continue;
        // Engines may answer at once, many times in a row.
        await nextTurn();
        await this.#measure(id, ownerId);
      }
    } catch (error) {
      log.warn('the history of use could not be kept', { error });
    }
    const now = this.#deps.clock.now();
    for (const [id, { ring }] of this.#kept) if (ring.isOver(now)) this.#kept.delete(id);
  }

  async of(caller: User, reference: string): Promise<HistoryOfUse> {
    const { id } = await resolveSandbox(this.#deps.store, caller, reference);
    const kept = this.#kept.get(id);
    return {
      sandboxId: id,
      samples: kept?.ring.samples(this.#deps.clock.now()) ?? [],
      outOfMemory: kept?.outOfMemory ?? [],
    };
  }

  async #measure(id: string, ownerId: string | null): Promise<void> {
    const { runtime, clock } = this.#deps;
    const kept = this.#newest(id, ownerId);
    const { ring } = kept;
    if (runtime.sleep && runtime.sleep.since(id) !== null && ring.rest(clock.now())) return;
    const usage = await runtime.usage(id).catch(() => null);
    if (usage === null) return;
    const now = clock.now();
    ring.add(now, usage);
    const oomKills = usage.oomKills ?? null;
    // A count that has fallen is of another run; that of the first sample may be older than it.
    const before =
      kept.oomKills !== null && kept.oomKills <= (oomKills ?? 0) ? kept.oomKills : (oomKills ?? 0);
    const killed = (oomKills ?? 0) - before;
    kept.oomKills = oomKills;
    if (killed === 0) return;
    const process = (await runtime.killedLast?.(id).catch(() => null)) ?? null;
    kept.outOfMemory = [...kept.outOfMemory, { at: now, killed, process }].slice(-mostEvents);
  }

  /** Returns what is kept of the sandbox as the newest of all; at a bound the oldest gives way to a new one. */
  #newest(id: string, ownerId: string | null): Kept {
    const before = this.#kept.get(id);
    const kept = before ?? { ownerId, ring: new Ring(), oomKills: null, outOfMemory: [] };
    kept.ownerId = ownerId;
    this.#kept.delete(id);
    if (!before) {
      const own = [...this.#kept].filter(([, other]) => other.ownerId === ownerId);
      const [oldest] = own.length >= perOwner ? own : this.#kept.size >= total ? this.#kept : [];
      if (oldest) this.#kept.delete(oldest[0]);
    }
    this.#kept.set(id, kept);
    return kept;
  }
}

// An hour of samples of one sandbox, a step apart: a ring of numbers of one size.

const { samples: length } = limits.usage.history;

export interface UsageSample {
  /** Milliseconds since the epoch. */
  at: number;
  /** Of processors in use on average since the sample before; null where it is not known, like the others. */
  cores: number | null;
  memoryBytes: number | null;
  diskBytes: number | null;
}

export class Ring {
  /** NaN: not known. */
  readonly #cores = new Float32Array(length).fill(Number.NaN);
  readonly #memory = new Float64Array(length).fill(Number.NaN);
  readonly #disk = new Float64Array(length).fill(Number.NaN);
  /** Step of the last sample, counted from the epoch; and of the first that is kept. */
  #last = -1;
  #first = 0;
  #cpu: { ms: number; at: number } | null = null;

  /** Adds a sample; does nothing when its step has one. */
  add(now: number, { cpuMs, memoryBytes, diskBytes }: SandboxUsage): void {
    const isRate = this.#cpu !== null && cpuMs !== null && cpuMs >= this.#cpu.ms && now > this.#cpu.at;
    const cores = isRate ? ((cpuMs ?? 0) - (this.#cpu?.ms ?? 0)) / (now - (this.#cpu?.at ?? 0)) : null;
    if (!this.#put(now, cores, memoryBytes, diskBytes)) return;
    this.#cpu = cpuMs === null ? null : { ms: cpuMs, at: now };
  }

  /** Adds a sample of a sandbox that sleeps: as the last one, without a processor. Returns false without a last one. */
  rest(now: number): boolean {
    if (this.#last < 0) return false;
    const at = this.#last % length;
    this.#put(now, 0, this.#memory[at] ?? null, this.#disk[at] ?? null);
    this.#cpu = null;
    return true;
  }

  /** Returns true when no sample is of the last hour. */
  isOver(now: number): boolean {
    return this.#last < Math.floor(now / stepMs) - length;
  }

  /** Returns those of the last hour, oldest first. */
  samples(now: number): UsageSample[] {
    const from = Math.max(this.#first, Math.floor(now / stepMs) - length + 1);
    return Array.from({ length: Math.max(0, this.#last - from + 1) }, (_, after) => {
      const at = (from + after) % length;
      return {
        at: (from + after) * stepMs,
        cores: known(this.#cores[at]),
        memoryBytes: known(this.#memory[at]),
        diskBytes: known(this.#disk[at]),
      };
    });
  }

  /** Returns false when the step has a sample. Steps between that were missed are not known. */
  #put(now: number, cores: number | null, memory: number | null, disk: number | null): boolean {
    const step = Math.floor(now / stepMs);
    if (step <= this.#last) return false;
    if (this.#last < 0) this.#first = step;
    for (let missed = Math.max(this.#last + 1, step - length + 1); missed < step && this.#last >= 0; missed++)
      this.#set(missed, null, null, null);
    this.#set(step, cores, memory, disk);
    this.#last = step;
    this.#first = Math.max(this.#first, step - length + 1);
    return true;
  }

  #set(step: number, cores: number | null, memory: number | null, disk: number | null): void {
    this.#cores[step % length] = cores ?? Number.NaN;
    this.#memory[step % length] = memory ?? Number.NaN;
    this.#disk[step % length] = disk ?? Number.NaN;
  }
}

function known(value: number | undefined): number | null {
  return value === undefined || Number.isNaN(value) ? null : value;
}
