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
import type { Clock, Log, Runtime, SandboxStore } from '../ports/index.ts';
import { resolveSandbox } from '../turns/resolve.ts';
import { Ring, type UsageSample } from './usage-ring.ts';

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
