/** Shares of the network log's room: owners have equal ones, and what some leave goes to the others. */

/** Log of one sandbox. */
export interface SharedLog {
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
export function ownerOfMost(logs: Iterable<SharedLog>): string | null {
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
