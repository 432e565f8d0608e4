/**
 * Limits by address, as parts of the table: addresses that are refused, and maps from addresses to named rates. Machines of
 * one owner have one rate in common. The name of a rate has its value in it, so a rate never changes: another one takes its
 * place, and rates that stay keep what is in their buckets.
 */
import type { OwnerRates, TrafficLimits } from '../../../../control/ports/index.ts';
import { limits } from '../../../../model/limits.ts';
import { addressOf } from '../../host/plan.ts';

/** Owners' own limits, their shares of the way out, and what is beyond the shares. */
export const rateMaps = [
  'owner_new',
  'owner_sent',
  'owner_received',
  'share_sent',
  'share_received',
  'rest_sent',
  'rest_received',
] as const;
export type RateMap = (typeof rateMaps)[number];

export interface NamedRate {
  name: string;
  /** Statement of nftables. */
  rate: string;
}

type ByAddress = ReadonlyMap<string, NamedRate>;

export interface Limited {
  refused: ReadonlySet<string>;
  rates: ReadonlyMap<RateMap, ByAddress>;
}

export const unlimitedAddresses: Limited = { refused: new Set(), rates: new Map() };

export function objectsOf({ rates }: Limited): NamedRate[] {
  const all = [...rates.values()].flatMap((map) => [...map.values()]);
  return [...new Map(all.map((rate) => [rate.name, rate])).values()];
}

/** Renders the way from one state to another as commands for nft; empty where they are equal. */
export function renderChanges(table: string, before: Limited, after: Limited): string {
  const [old, present] = [objectsOf(before), objectsOf(after)];
  const [had, has] = [new Set(old.map(nameOf)), new Set(present.map(nameOf))];
  const added = present.filter(({ name }) => !had.has(name));
  const gone = old.filter(({ name }) => !has.has(name));
  const none = new Map<string, NamedRate>();
  return [
    ...added.map(({ name, rate }) => `add limit inet ${table} ${name} { ${rate} ; }`),
    ...setChanges(table, before.refused, after.refused),
    ...rateMaps.flatMap((map) =>
      mapChanges(`inet ${table} ${map}`, before.rates.get(map) ?? none, after.rates.get(map) ?? none),
    ),
    ...gone.map(({ name }) => `delete limit inet ${table} ${name}`),
  ]
    .map((command) => `${command}\n`)
    .join('');
}

function setChanges(table: string, before: ReadonlySet<string>, after: ReadonlySet<string>): string[] {
  const set = `inet ${table} refused_to`;
  return [
    ...[...before].filter((address) => !after.has(address)).map((a) => `delete element ${set} { ${a} }`),
    ...[...after].filter((address) => !before.has(address)).map((a) => `add element ${set} { ${a} }`),
  ];
}

function mapChanges(map: string, before: ByAddress, after: ByAddress): string[] {
  const differs = (a: ByAddress, b: ByAddress) => (address: string) =>
    a.get(address)?.name !== b.get(address)?.name;
  const changed = differs(before, after);
  return [
    ...[...before.keys()].filter(changed).map((address) => `delete element ${map} { ${address} }`),
    ...[...after].flatMap(([address, { name }]) =>
      changed(address) ? `add element ${map} { ${address} : "${name}" }` : [],
    ),
  ];
}

function nameOf({ name }: NamedRate): string {
  return name;
}

type Rates = [RateMap, NamedRate][];

/**
 * Expands limits of machines and owners to addresses.
 * @param held Slots by machine.
 */
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
    // A machine of the warm pool has no owner yet, and no traffic to limit.
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

/** A bucket holds one second and the burst, which has to hold the largest packet of the kernel's own. */
export function bytesRate(perSecond: number): string {
  const { least, most, burst } = limits.traffic.rateBytes;
  const whole = Math.round(Math.min(most, Math.max(least, perSecond)));
  return `rate over ${whole} bytes/second burst ${burst} bytes`;
}

export function packetsRate(perSecond: number): string {
  const whole = Math.max(1, Math.round(perSecond));
  return `rate over ${whole}/second burst ${2 * whole} packets`;
}
