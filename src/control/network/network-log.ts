/**
 * The latest network events of each sandbox, in memory: a service that starts has none. Numbers of a sandbox's events grow by
 * one, and by one for each that was dropped, so a gap tells how many are missing.
 *
 * Invariant: a sandbox with many events displaces its own alone, and an owner with many sandboxes those of these. When all have
 * too many together, logs that have been silent for a day go, as those of deleted sandboxes do; then the owners with most lose
 * their oldest down to an equal share. A log that somebody follows stays: its followers would hear of
 * nothing more.
 */
import { limits } from '../../model/limits.ts';
import { isDropped, type NetworkEvent, type NetworkReport } from '../../model/network/traffic.ts';
import type { Clock, NetworkEvents } from '../ports/index.ts';

export interface LoggedEvent extends NetworkEvent {
  /** Grows with each event of the sandbox, also over restarts of the service. */
  sequence: number;
}

export interface NetworkLogQuery {
  /** Newest ones when absent. */
  after?: number | undefined;
  limit: number;
  /** Only what was not allowed. */
  refused?: boolean;
}

export interface NetworkLogPage {
  /** Oldest first. */
  events: LoggedEvent[];
  /** Events from `after` on that are not in the log any more, or never were: there were too many. */
  dropped: number;
  /** Value of `after` for the next page. */
  next: number;
  hasMore: boolean;
}

interface Kept {
  /** The last one that was known: of a deleted sandbox, too. */
  owner: string | null;
  /** Sequence of the last event, or of the last that was dropped. */
  last: number;
  /** Sequence after which this process knows everything. */
  begin: number;
  events: LoggedEvent[];
  followers: Set<() => void>;
}

const { eventsPerSandbox, events: mostEvents, eventLogs, eventLogSilentMs } = limits.network;
/** Numbers of a later process are higher than those of an earlier one, unless that had more events in a millisecond. */
const NUMBERS_PER_MS = 1_000;
/** Part of the room that is left to those who have events, so that the next look is some time away. */
const LEFT = 0.9;

export class NetworkLog {
  /** The one with the latest event comes last. */
  readonly #logs = new Map<string, Kept>();
  readonly #clock: Clock;
  readonly #ownerOf: NetworkEvents['ownerOf'];
  #count = 0;

  /** @param ownerOf Returns the owner of a sandbox that runs. */
  constructor(clock: Clock, ownerOf: NetworkEvents['ownerOf']) {
    this.#clock = clock;
    this.#ownerOf = ownerOf;
  }

  add(reports: readonly NetworkReport[]): void {
    const told = new Set<Kept>();
    for (const report of reports) {
      const kept = this.#of(report.sandbox);
      this.#logs.delete(report.sandbox);
      this.#logs.set(report.sandbox, kept);
      told.add(kept);
      if (isDropped(report)) kept.last += report.dropped;
      else this.#keep(kept, report);
    }
    for (const { followers } of told) for (const wake of followers) wake();
  }

  page(sandboxId: string, { after, limit, refused = false }: NetworkLogQuery): NetworkLogPage {
    const kept = this.#logs.get(sandboxId);
    if (!kept) return { events: [], dropped: 0, next: after ?? 0, hasMore: false };
    const wanted = (event: LoggedEvent) => !refused || !event.allowed;
    const [oldest] = kept.events;
    const from = after ?? (oldest ? oldest.sequence - 1 : kept.last);
    const later = kept.events.filter(({ sequence }) => sequence > from);
    const matching = later.filter(wanted);
    const events = after === undefined ? matching.slice(-limit) : matching.slice(0, limit);
    const hasMore = after !== undefined && matching.length > limit;
    const next = Math.max(from, hasMore ? (events.at(-1)?.sequence ?? from) : kept.last);
    const begun = after === undefined ? (events[0]?.sequence ?? next + 1) - 1 : Math.max(from, kept.begin);
    const passed = later.filter(({ sequence }) => sequence > begun && sequence <= next).length;
    return { events, dropped: Math.max(0, next - begun - passed), next, hasMore };
  }

  /**
   * Calls `wake` after each addition to the sandbox's log.
   * @returns Ends it.
   */
  follow(sandboxId: string, wake: () => void): () => void {
    const kept = this.#of(sandboxId);
    const own = () => wake();
    kept.followers.add(own);
    return () => {
      kept.followers.delete(own);
    };
  }

  #of(sandboxId: string): Kept {
    const known = this.#logs.get(sandboxId);
    const owner = this.#ownerOf(sandboxId) ?? known?.owner ?? null;
    if (known) {
      known.owner = owner;
      return known;
    }
    const begin = this.#clock.now() * NUMBERS_PER_MS;
    const fresh: Kept = { owner, last: begin, begin, events: [], followers: new Set() };
    this.#logs.set(sandboxId, fresh);
    if (this.#logs.size > eventLogs) this.#forgetAnother(fresh);
    return fresh;
  }

  /** Of the owner with most, the one that is silent longest. */
  #forgetAnother(fresh: Kept): void {
    const free = [...this.#logs].filter(([, kept]) => kept.followers.size === 0 && kept !== fresh);
    const owner = ownerOfMost(free.map(([, kept]) => kept));
    for (const [id, kept] of free) {
      if (kept.owner !== owner) continue;
      this.#forget(id);
      return;
    }
  }

  #forget(sandboxId: string): void {
    this.#count -= this.#logs.get(sandboxId)?.events.length ?? 0;
    this.#logs.delete(sandboxId);
  }

  #keep(kept: Kept, event: NetworkEvent): void {
    kept.last += 1;
    kept.events.push({ ...event, sequence: kept.last });
    this.#count += 1;
    if (kept.events.length > eventsPerSandbox) this.#trim(kept, eventsPerSandbox);
    if (this.#count > mostEvents) this.#level();
  }

  /** After it a tenth of the room is free, so it is rare. */
  #level(): void {
    const long = this.#clock.now() - eventLogSilentMs;
    for (const [id, { events, followers }] of this.#logs) {
      if (followers.size === 0 && (events.at(-1)?.at ?? 0) < long) this.#forget(id);
    }
    const surplus = surplusOf(this.#logs.values(), mostEvents * LEFT);
    for (const [kept, most] of surplus) this.#trim(kept, most);
  }

  #trim(kept: Kept, most: number): void {
    const surplus = Math.max(0, kept.events.length - most);
    kept.events.splice(0, surplus);
    this.#count -= surplus;
  }
}

/**
 * Shares of the network log's room: owners have equal ones, and what some leave goes to the others.
 */
interface SharedLog {
  /** null: nobody, or nobody known; these logs have one share together. */
  owner: string | null;
  events: readonly unknown[];
}

/** Returns the most that each of these may keep, so that all of them together fit into the room. */
export function levelOf(lengths: readonly number[], room: number): number {
  let left = room;
  const sorted = lengths.toSorted((one, other) => one - other);
  for (const [at, length] of sorted.entries()) {
    const level = Math.floor(left / (sorted.length - at));
    if (length > level) return Math.max(0, level);
    left -= length;
  }
  return Number.POSITIVE_INFINITY;
}

/**
 * Returns the number of events that each log may keep, for those that have more. An owner with more logs than the share has
 * room keeps the last ones.
 * @param logs The one with the latest event comes last.
 */
export function surplusOf<Log extends SharedLog>(logs: Iterable<Log>, room: number): Map<Log, number> {
  const owners = [...Map.groupBy(logs, ({ owner }) => owner).values()];
  const share = levelOf(owners.map(countOf), room);
  const surplus = new Map<Log, number>();
  for (const own of owners) {
    if (countOf(own) <= share) continue;
    const begin = Math.max(0, own.length - share);
    const level = levelOf(lengthsOf(own.slice(begin)), share);
    for (const [at, log] of own.entries()) {
      const most = at < begin ? 0 : level;
      if (log.events.length > most) surplus.set(log, most);
    }
  }
  return surplus;
}

/** Returns the owner with most logs; of several, the one whose log comes first. */
function ownerOfMost(logs: Iterable<SharedLog>): string | null {
  const owners = [...Map.groupBy(logs, ({ owner }) => owner)];
  const [first] = owners.toSorted(([, one], [, other]) => other.length - one.length);
  return first?.[0] ?? null;
}

function lengthsOf(logs: readonly SharedLog[]): number[] {
  return logs.map(({ events }) => events.length);
}

function countOf(logs: readonly SharedLog[]): number {
  return lengthsOf(logs).reduce((sum, length) => sum + length, 0);
}
