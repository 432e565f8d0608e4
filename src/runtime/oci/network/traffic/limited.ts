/**
 * Limits by address, as parts of the table: addresses that are refused, and maps from addresses to named rates. Machines of
 * one owner have one rate in common. The name of a rate has its value in it, so a rate never changes: another one takes its
 * place, and rates that stay keep what is in their buckets.
 */

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

export interface Limited {
  refused: ReadonlySet<string>;
  rates: ReadonlyMap<RateMap, ReadonlyMap<string, NamedRate>>;
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

type Rates = ReadonlyMap<string, NamedRate>;

function mapChanges(map: string, before: Rates, after: Rates): string[] {
  const differs = (a: Rates, b: Rates) => (address: string) => a.get(address)?.name !== b.get(address)?.name;
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
