/**
 * Divides the processors between owners, and each owner's share among their busy machines: ten busy machines of one
 * user leave the single machine of another its half. The kernel weighs machines; this module sets their weights, once
 * a second while the host is busy, by the processor time that each has used.
 *
 * One cgroup per owner would make this unnecessary, but a machine from the warm pool would have to move between groups
 * at its claim: that waits for the kernel (5 to 9 ms), and on v2 leaves its memory's charges behind.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Log } from '../../../control/ports/index.ts';
import { limits } from '../../../model/limits.ts';
import { describeFailure } from '../host/failures.ts';
import { readNow } from '../host/files.ts';
import type { Owners } from './owners.ts';
import type { ProcessorGroups } from './processor-groups.ts';
import type { ServiceGroup } from './service-group.ts';

export interface ProcessorShares {
  begin(): Promise<void>;
  /** Forgets the measurements of a machine that was resized or has ended. */
  forget(id: string): void;
  close(): Promise<void>;
}

export interface ProcessorSharesDependencies {
  groups: ProcessorGroups;
  service: ServiceGroup;
  owners: Pick<Owners, 'of'>;
  /** Returns all machines. */
  ids(): Promise<string[]>;
  log: Log;
}

/** Machines examined without a turn of other work: one to two milliseconds. */
const PER_TURN = 32;

interface Known {
  usedMs: number;
  processors: number;
  /** Shares last written; null before the first. */
  shares: number | null;
}

/** `usedMs` since the look before. */
type Measured = Omit<Worker, 'busy'> & { usedMs: number };

export interface Worker {
  id: string;
  owner: string;
  processors: number;
  busy: boolean;
}

export function createProcessorShares({
  groups,
  service,
  owners,
  ids,
  log,
}: ProcessorSharesDependencies): ProcessorShares {
  const known = new Map<string, Known>();
  /** Processor time of all machines when they were last weighed. */
  let weighedMs: number | null = null;
  let last: HostTimes & { at: number } = { busyTicks: 0, allTicks: 0, at: 0 };
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | null = null;

  async function look(): Promise<void> {
    const now = { ...hostTimes(), at: performance.now() };
    const inUse = (now.busyTicks - last.busyTicks) / (now.allTicks - last.allTicks);
    const elapsedMs = now.at - last.at;
    last = now;
    if (inUse >= limits.processor.contended) await weigh(elapsedMs);
    // Old measurements would count all use since then as use since the previous look.
    else known.clear();
  }

  async function weigh(elapsedMs: number): Promise<void> {
    const allMs = groups.usedMsOfAll();
    // Others keep the host busy: the weights are those of the last machine that worked.
    if (known.size > 0 && allMs !== null && allMs === weighedMs) return;
    weighedMs = allMs;
    const present = new Set(await ids());
    const isFirst = known.size === 0;
    for (const id of known.keys()) if (!present.has(id)) known.delete(id);
    const seen = await examineAll(present);
    // Busy machines are known from the second look on.
    if (isFirst) return;
    const enough = leastOfBusy(Math.max(0, ...seen.map(({ usedMs }) => usedMs)), elapsedMs);
    const workers = seen.map(({ usedMs, ...machine }) => ({ ...machine, busy: usedMs >= enough }));
    for (const [id, shares] of divide(workers)) {
      const machine = known.get(id);
      if (!machine || machine.shares === shares) continue;
      await groups.setShares(id, shares);
      machine.shares = shares;
    }
  }

  async function examineAll(ids: Iterable<string>): Promise<Measured[]> {
    const seen: Measured[] = [];
    for (const [index, id] of [...ids].entries()) {
      if (index % PER_TURN === 0) await nextTurn();
      const machine = examine(id);
      if (machine) seen.push(machine);
    }
    return seen;
  }

  /** Measures a machine; one seen for the first time counts as unused until the next look. */
  function examine(id: string): Measured | null {
    const before = known.get(id);
    const usedMs = groups.usedMs(id);
    const processors = before?.processors ?? groups.processors(id);
    if (usedMs === null || processors === null) return null;
    known.set(id, { usedMs, processors, shares: before?.shares ?? null });
    return { id, owner: owners.of(id), processors, usedMs: before ? usedMs - before.usedMs : 0 };
  }

  function lookSoon(): void {
    looking ??= look()
      .catch((error: unknown) =>
        log.warn('processors could not be divided', { reason: describeFailure(error) }),
      )
      .finally(() => {
        looking = null;
      });
  }

  return {
    async begin() {
      const { besideService, besideOthers } = limits.processor.weightOfAll;
      await groups.setWeightOfAll((await service.join()) ? besideService : besideOthers);
      last = { ...hostTimes(), at: performance.now() };
      timer = setInterval(lookSoon, limits.processor.lookIntervalMs);
    },

    forget: (id) => void known.delete(id),

    async close() {
      clearInterval(timer);
      await looking;
      await service.leave();
    },
  };
}

/** Returns the processor time from which a machine counts as busy. */
function leastOfBusy(largestMs: number, elapsedMs: number): number {
  const { busy, busyBesideLargest, busyLeast } = limits.processor;
  return Math.max(busyLeast * elapsedMs, Math.min(busy * elapsedMs, busyBesideLargest * largestMs));
}

interface HostTimes {
  busyTicks: number;
  allTicks: number;
}

/** Ticks of all processors together: user, nice, system, idle, iowait, irq, softirq, steal. */
function hostTimes(): HostTimes {
  const line = /^cpu +(.*)$/m.exec(readNow('/proc/stat') ?? '')?.[1] ?? '';
  const ticks = line.split(' ').slice(0, 8).map(Number);
  const allTicks = ticks.reduce((sum, part) => sum + part, 0);
  return { allTicks, busyTicks: allTicks - (ticks[3] ?? 0) - (ticks[4] ?? 0) };
}

/** Returns the shares of each machine. An idle one gets the shares of a busy one beside its owner's busy ones. */
export function divide(workers: Worker[]): Map<string, number> {
  const { sharesPerOwner, sharesMin } = limits.processor;
  const busy = new Map<string, number>();
  for (const { owner, processors, ...worker } of workers) {
    if (worker.busy) busy.set(owner, (busy.get(owner) ?? 0) + processors);
  }
  return new Map(
    workers.map(({ id, owner, processors, ...worker }) => {
      const together = (busy.get(owner) ?? 0) + (worker.busy ? 0 : processors);
      const part = Math.round((sharesPerOwner * processors) / together);
      return [id, Math.max(sharesMin, part)];
    }),
  );
}
