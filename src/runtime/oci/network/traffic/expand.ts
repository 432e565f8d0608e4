/** Expands limits of machines and owners to addresses. */
import type { OwnerRates, TrafficLimits } from '../../../../control/ports/index.ts';
import { addressOf } from '../../host/plan.ts';
import { type Limited, type NamedRate, type RateMap, rateMaps } from './limited.ts';
import { bytesRate, packetsRate } from './table.ts';

type Rates = [RateMap, NamedRate][];

/** @param held Slots by machine. */
export function limitedOf(
  { refused, owners, divided }: TrafficLimits,
  held: ReadonlyMap<string, number>,
  ownerOf: (id: string) => string,
): Limited {
  const refusedTo = new Set<string>();
  const rates = new Map(rateMaps.map((map) => [map, new Map<string, NamedRate>()]));
  const known = new Map<string, Rates>();
  for (const [id, index] of held) {
    const [address, owner] = [addressOf(index), ownerOf(id)];
    if (refused.has(id) || refused.has(owner)) refusedTo.add(address);
    // A machine of the warm pool has no owner yet, and nothing to say.
    if (owner === id) continue;
    const own = known.get(owner) ?? [...ratesOf(owner, owners.get(owner)), ...shares(owner, divided)];
    known.set(owner, own);
    for (const [map, rate] of own) rates.get(map)?.set(address, rate);
  }
  return { refused: refusedTo, rates };
}

function ratesOf(owner: string, rates: OwnerRates | undefined): Rates {
  const { bandwidth = null, connectionsPerSecond: connections = null } = rates ?? {};
  const bytes = (map: RateMap, perSecond: number): Rates => [
    [map, named(map, owner, perSecond, bytesRate(perSecond))],
  ];
  return [
    ...(bandwidth === null ? [] : bytes('owner_sent', bandwidth)),
    ...(bandwidth === null ? [] : bytes('owner_received', bandwidth)),
    ...(connections === null
      ? []
      : ([['owner_new', named('owner_new', owner, connections, packetsRate(connections))]] satisfies Rates)),
  ];
}

function shares(owner: string, divided: TrafficLimits['divided']): Rates {
  if (!divided) return [];
  return (['sent', 'received'] as const).flatMap((direction): Rates => {
    const { each, rest } = divided[direction];
    const [share, beyond] = [`share_${direction}`, `rest_${direction}`] as const;
    return [
      [share, named(share, owner, each, bytesRate(each))],
      [beyond, named(beyond, 'all', rest, bytesRate(rest))],
    ];
  });
}

/** Ids of owners are ours; their form is checked once more, since text becomes a program of nftables here. */
function named(map: RateMap, owner: string, value: number, rate: string): NamedRate {
  if (!/^[a-z0-9_]{1,64}$/i.test(owner)) throw new Error(`not an id of an owner: ${owner}`);
  return { name: `${map}_${owner}_${Math.round(value)}`, rate };
}
