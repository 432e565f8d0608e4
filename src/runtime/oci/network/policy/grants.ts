/**
 * Grants: rules for addresses as the firewall has them. Places of one protocol share a set, so that a long list costs a packet one
 * lookup, and a machine few rules: each change of the table makes the kernel walk through all rules of all machines.
 */
import type { NetworkRule } from '../../../../model/network/policy.ts';
import {
  type AddressRange,
  formatAddressRange,
  intersectRanges,
  parseAddressRange,
} from '../../../../model/network/public-addresses.ts';

export type Grant = PlacesGrant | TimedGrant;

/** Accepts both directions of connections to some places. */
export interface PlacesGrant {
  kind: 'places';
  protocol: GrantProtocol;
  /** None overlaps another: the kernel's set refuses that. */
  places: Place[];
  /** Packets that it accepts are noted. */
  noted: boolean;
}

/** Accepts, and notes, all of a protocol until a time; of UDP all but QUIC, which shows no names. */
export interface TimedGrant {
  kind: 'timed';
  protocol: 'udp' | 'icmp';
  /** Seconds since the epoch. */
  until: number;
}

export type GrantProtocol = 'tcp' | 'udp' | 'icmp';

export interface Place {
  range: AddressRange;
  /** First and last port; null for icmp. */
  ports: [number, number] | null;
}

/** QUIC is UDP to this port. */
export const QUIC_PORT = 443;

const protocols: GrantProtocol[] = ['tcp', 'udp', 'icmp'];

/** Returns grants of the rules that the firewall decides by itself: the egress program decides the others. */
export function grantsOf(rules: NetworkRule[], noted: boolean): Grant[] {
  return protocols.flatMap((protocol) => {
    const places = rules.flatMap((rule) =>
      rule.protocol === protocol && rule.address !== null ? placeOf(rule, rule.address) : [],
    );
    return apart(places).map((layer) => ({ kind: 'places' as const, protocol, places: layer, noted }));
  });
}

/** Divides places so that none overlaps another of its part; mostly into one. One that lies within another is left out. */
export function apart(places: Place[]): Place[][] {
  const layers: Place[][] = [];
  for (const place of [...places].sort(byExtent)) {
    if (layers.some((layer) => layer.some((other) => covers(other, place)))) continue;
    const layer = layers.find((others) => !others.some((other) => overlap(other, place)));
    if (layer) layer.push(place);
    else layers.push([place]);
  }
  return layers;
}

/** Text from elsewhere goes to the kernel here, so its form is checked once more. */
function placeOf({ ports }: NetworkRule, address: string): Place {
  const range = parseAddressRange(address);
  if (!range || formatAddressRange(range) !== address)
    throw new Error(`not a range of addresses: ${address}`);
  return { range, ports: ports && [checkedPort(ports[0]), checkedPort(ports[1])] };
}

export function checkedPort(number: number): number {
  if (Number.isInteger(number) && number >= 0 && number <= 65_535) return number;
  throw new Error(`not a port: ${number}`);
}

/** The widest come first, so that they cover others. */
function byExtent(one: Place, other: Place): number {
  const [width, otherWidth] = [one, other].map(({ ports }) => (ports ? ports[1] - ports[0] : 0)) as [
    number,
    number,
  ];
  return (
    one.range.prefix - other.range.prefix ||
    otherWidth - width ||
    one.range.first - other.range.first ||
    (one.ports?.[0] ?? 0) - (other.ports?.[0] ?? 0)
  );
}

function overlap(one: Place, other: Place): boolean {
  if (intersectRanges(one.range, other.range) === null) return false;
  return !one.ports || !other.ports || (one.ports[0] <= other.ports[1] && other.ports[0] <= one.ports[1]);
}

function covers(wide: Place, { range, ports }: Place): boolean {
  if (wide.range.prefix > range.prefix || intersectRanges(wide.range, range) === null) return false;
  return !wide.ports || !ports || (wide.ports[0] <= ports[0] && wide.ports[1] >= ports[1]);
}
