/** Counts of the table by address, as nft lists them, and what came between two listings. */
import { noTraffic, type TrafficCount } from '../../../../model/network/traffic.ts';
import { nftJson } from '../foreign-forward.ts';

export type Counts = ReadonlyMap<string, TrafficCount>;

interface Element {
  elem: { val: string; counter: { packets: number; bytes: number } };
}

/** Returns null where the table is gone, or has not this number of rules; with null, any. */
export async function listCounts(table: string, rules: number | null): Promise<Counts | null> {
  const rows = await nftJson(['list', 'table', 'inet', table]).catch(() => null);
  if (!rows || (rules !== null && rows.filter(({ rule }) => rule).length !== rules)) return null;
  const counts = new Map<string, TrafficCount>();
  for (const { set } of rows) {
    const add = addTo[set?.name ?? ''];
    if (!add) continue;
    for (const { elem } of (set?.elem ?? []) as unknown as Element[]) {
      counts.set(elem.val, { ...(counts.get(elem.val) ?? noTraffic), ...add(elem.counter) });
    }
  }
  return counts;
}

const addTo: Record<string, (counter: Element['elem']['counter']) => Partial<TrafficCount>> = {
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
