/**
 * Watches the traffic of sandboxes: counts the day of each sandbox and owner, refuses the network to those that have used up
 * theirs, and sets the rates of owners. The kernel counts and limits; every two seconds one reading of it changes the limits
 * where they differ. So a limit of a day may be passed by what two seconds carry.
 *
 * Counts are stored every ten seconds and at the end: a service that is killed forgets no more than that.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../../model/limits.ts';
import {
  addTraffic,
  allBytes,
  bytesOf,
  bytesPerSecond,
  dayOf,
  nextDay,
  noTraffic,
  type SandboxTrafficLimits,
  type TrafficCount,
} from '../../../model/network/traffic.ts';
import type { Quota } from '../../../model/quota.ts';
import type {
  Clock,
  Division,
  Log,
  MachineTraffic,
  NetworkTraffic,
  TrafficNotes,
} from '../../ports/index.ts';
import type { DayTraffic } from './day-traffic.ts';
import { limitsOf, type OwnerQuotas, type UsedUp, usedUpOf } from './judgement.ts';

export interface TrafficWatchDependencies {
  traffic: NetworkTraffic;
  /** null: counts begin anew with the service. */
  notes: TrafficNotes | null;
  day: DayTraffic;
  quotas: OwnerQuotas;
  each: SandboxTrafficLimits;
  /** Speed of the way out in Mbit/s; null for one that is not divided. */
  uplinkMbps: number | 'auto' | null;
  /** Tells those who follow a sandbox that it has changed. */
  changed(id: string): void;
  clock: Clock;
  log: Log;
}

/** Traffic of one sandbox and the limits that it is under. */
export interface ShownTraffic {
  today: TrafficCount;
  each: SandboxTrafficLimits;
  quota: Pick<Quota, 'bandwidth' | 'connections' | 'traffic'>;
  /** Of its owner: with that, more than the sandbox counts. */
  ownerBytes: number;
  usedUp: UsedUp | null;
  /** End of the refusal, milliseconds since the epoch; null while the sandbox has its network. */
  until: number | null;
}

export class TrafficWatch {
  readonly #deps: TrafficWatchDependencies;
  #owners = new Map<string, string>();
  #usedUp: ReadonlyMap<string, UsedUp> = new Map();
  #divided: Record<'sent' | 'received', Division> | null = null;
  #quotas: ReadonlyMap<string, Quota> = new Map();
  #lookedAt = performance.now();
  #storedAt = performance.now();
  #unstored = false;
  #total = noTraffic;
  #ending = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(dependencies: TrafficWatchDependencies) {
    this.#deps = dependencies;
  }

  /** Takes up the counts of the day, and begins. Machines have their owners by then. */
  begin(): void {
    const { notes, day, log } = this.#deps;
    try {
      const text = notes?.read() ?? null;
      if (text !== null) day.restore(text);
    } catch (error) {
      log.warn('the traffic of the day could not be read, and is counted anew', { error });
    }
    this.#running = this.#run();
  }

  /** One turn: reads, decides and sets. */
  async look(): Promise<void> {
    const { traffic, day, clock, quotas, each } = this.#deps;
    const machines = (await traffic.read()).map((machine) => this.#billed(machine));
    const seconds = Math.max(0.1, (performance.now() - this.#lookedAt) / 1_000);
    this.#lookedAt = performance.now();
    for (const machine of machines) this.#total = addTraffic(this.#total, machine);
    const moved = machines.filter((machine) => allBytes(machine) + machine.refusedConnections > 0);
    this.#unstored ||= moved.length > 0;
    day.add(dayOf(clock.now()), machines);
    const owned = machines.filter(({ id, ownerId }) => ownerId !== id);
    const stopped = owned.flatMap(({ id, ownerId }) => (this.#usedUp.has(id) ? [ownerId] : []));
    const active = new Set([...moved.map(({ ownerId }) => ownerId), ...stopped]);
    // No quota but 0 is lower: whoever has used one up is among these, with or without a sandbox that runs.
    const busy = day.ownersFrom(bytesOf(1));
    this.#quotas = await quotas.of([...owned.map(({ ownerId }) => ownerId), ...busy], active);
    this.#divided = this.#division(owned, seconds);
    const running = machines.filter(({ isRunning }) => isRunning);
    this.#owners = new Map(running.map(({ id, ownerId }) => [id, ownerId]));
    const rules = { day, each, quotas: this.#quotas };
    const usedUp = usedUpOf(running, rules);
    await traffic.limit({ ...limitsOf(rules), divided: this.#divided });
    this.#note(usedUp);
    if (this.#unstored && performance.now() - this.#storedAt >= limits.traffic.storeMs) await this.#store();
  }

  /** Traffic of all sandboxes since the start of the service, and the sandboxes that are refused the network. */
  get figures(): TrafficCount & { refused: Record<UsedUp, number> } {
    const of = (kind: UsedUp) => [...this.#usedUp.values()].filter((one) => one === kind).length;
    return { ...this.#total, refused: { sandbox: of('sandbox'), owner: of('owner') } };
  }

  /** Returns what a sandbox, running or not, has used today, and the limits that it is under. */
  async of(id: string, ownerId: string): Promise<ShownTraffic> {
    const { day, each, clock, quotas } = this.#deps;
    const usedUp = this.#usedUp.get(id) ?? null;
    return {
      ...{ today: day.ofSandbox(id), ownerBytes: allBytes(day.ofOwner(ownerId)) },
      ...{ each, usedUp, quota: await quotas.one(ownerId) },
      until: usedUp && nextDay(clock.now()),
    };
  }

  /** Returns the reason why a sandbox is refused the network; null while it has one. */
  reasonOf(id: string): string | null {
    const usedUp = this.#usedUp.get(id);
    if (!usedUp) return null;
    const whose = usedUp === 'sandbox' ? 'The sandbox' : 'Its owner';
    const until = new Date(nextDay(this.#deps.clock.now())).toISOString();
    return `${whose} has used up today's network traffic: the network is refused until ${until}.`;
  }

  /** Ends the watch and stores the counts; limits stay in force. */
  async close(): Promise<void> {
    this.#ending.abort();
    await this.#running;
    if (this.#unstored) await this.#store();
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      await this.look().catch((error: unknown) =>
        this.#deps.log.warn('the traffic of sandboxes could not be looked at', { error }),
      );
      await sleep(limits.traffic.lookMs, null, { signal, ref: false }).catch(() => {});
    }
    await this.look().catch(() => {});
  }

  /** Names the owner of a machine that has ended, which the engine knows no more. */
  #billed(machine: MachineTraffic): MachineTraffic {
    const { id, ownerId } = machine;
    return ownerId === id ? { ...machine, ownerId: this.#owners.get(id) ?? id } : machine;
  }

  #division(machines: MachineTraffic[], seconds: number): Record<'sent' | 'received', Division> | null {
    const { uplinkMbps, traffic } = this.#deps;
    const mbps = uplinkMbps === 'auto' ? traffic.linkMbps() : uplinkMbps;
    if (mbps === null) return null;
    const byOwner = Map.groupBy(machines, ({ ownerId }) => ownerId);
    const used = (kind: 'sentBytes' | 'receivedBytes') =>
      [...byOwner.values()].map((own) => own.reduce((sum, machine) => sum + machine[kind], 0) / seconds);
    const capacity = bytesPerSecond(mbps);
    return {
      sent: divide(used('sentBytes'), capacity, this.#divided?.sent ?? null),
      received: divide(used('receivedBytes'), capacity, this.#divided?.received ?? null),
    };
  }

  #note(usedUp: ReadonlyMap<string, UsedUp>): void {
    const { changed, log } = this.#deps;
    const before = this.#usedUp;
    this.#usedUp = usedUp;
    for (const [id, whose] of usedUp) {
      if (before.has(id)) continue;
      log.warn('a sandbox is refused the network until the next day', { sandbox: id, usedUp: whose });
      changed(id);
    }
    for (const id of before.keys()) {
      if (usedUp.has(id)) continue;
      log.info('a sandbox is no longer refused the network', { sandbox: id });
      changed(id);
    }
  }

  async #store(): Promise<void> {
    const { notes, day, log } = this.#deps;
    this.#storedAt = performance.now();
    this.#unstored = false;
    await notes?.write(day.toText()).catch((error: unknown) => {
      this.#unstored = true;
      log.warn('the traffic of the day could not be stored', { error });
    });
  }
}

/**
 * Division of the way out between owners. The kernel lets each owner pass a share in any case, and divides by arrival what is
 * left beyond the shares: a newcomer has its share with the first packet, and nothing is kept idle. Here the share follows
 * from what owners have used: those who want more than it divide what the others leave.
 * Returns the division for the next seconds.
 * @param used Bytes a second that each owner has used under the division `before`.
 * @param capacity Bytes a second of the link.
 */
export function divide(used: readonly number[], capacity: number, before: Division | null): Division {
  const { divided, hungry, noticeable } = limits.traffic;
  const whole = capacity * divided;
  const enough = hungry * (before?.each ?? whole / 2);
  const modest = used.filter((bytes) => bytes < enough);
  const left = whole - sum(modest);
  const wanting = used.length - modest.length;
  const each = Math.max(left / Math.max(2, wanting), whole / Math.max(2, used.length));
  const rest = left - wanting * each;
  const next = { each, rest: Math.max(rest, whole / 100) };
  const isClose = (a: number, b: number) => Math.abs(a - b) <= noticeable * b;
  return before && isClose(next.each, before.each) && isClose(next.rest, before.rest) ? before : next;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
