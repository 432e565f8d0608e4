/** Counts of the table by address, as the kernel lists them, and what came between two listings. */
import { noTraffic, type TrafficCount } from '../../../../model/network/traffic.ts';
import { type Counter, countRules, elementsOf, generation, namedCounter } from '../netlink/questions.ts';
import { countedPackets } from './table.ts';

export type Counts = ReadonlyMap<string, TrafficCount>;

/** State of the table: while it stays the same, so do rules and counts. */
export interface Mark {
  generation: number;
  /** null in a table of a version without this counter. */
  packets: number | null;
}

/** Reads the state of the table, before its counts: a packet is in them before it is in the state. */
export async function markOf(table: string): Promise<Mark> {
  const [counter, number] = await Promise.all([
    unlessGone(namedCounter({ table, name: countedPackets })),
    generation(),
  ]);
  return { generation: number, packets: counter?.packets ?? null };
}

/** Returns true where the table has this number of rules. */
export async function hasRules(table: string, rules: number): Promise<boolean> {
  return (await countRules(table)) === rules;
}

/** Returns null where the table is gone. */
export async function listCounts(table: string): Promise<Counts | null> {
  const counts = new Map<string, TrafficCount>();
  for (const [name, add] of Object.entries(addTo)) {
    const elements = await unlessGone(elementsOf({ table, name }));
    if (!elements) return null;
    for (const { key, counter } of elements) {
      if (!counter) continue;
      const address = key.subarray(0, 4).join('.');
      counts.set(address, { ...(counts.get(address) ?? noTraffic), ...add(counter) });
    }
  }
  return counts;
}

const addTo: Record<string, (counter: Counter) => Partial<TrafficCount>> = {
  sent: ({ bytes }) => ({ sentBytes: bytes }),
  received: ({ bytes }) => ({ receivedBytes: bytes }),
  refused: ({ packets }) => ({ refusedConnections: packets }),
};

/** A count below the one before it began anew. */
export function between(before: TrafficCount | undefined, now: TrafficCount): TrafficCount {
  const since = (kind: keyof TrafficCount) => {
    const last = before?.[kind] ?? 0;
    return now[kind] >= last ? now[kind] - last : now[kind];
  };
  return {
    sentBytes: since('sentBytes'),
    receivedBytes: since('receivedBytes'),
    refusedConnections: since('refusedConnections'),
  };
}

function unlessGone<T>(answer: Promise<T>): Promise<T | null> {
  return answer.catch((error) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
}
