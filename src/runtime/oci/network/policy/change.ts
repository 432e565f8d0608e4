/**
 * Changes of policies as messages for the kernel, which the spawner sends: no nft runs for them. A change is two transactions where it
 * has new sets of grants: the first makes these, the second one changes what packets are judged by.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  addElements,
  addRule,
  deleteChain,
  deleteElements,
  deleteSet,
  type Element,
  flushChain,
  keyTypes,
  type Named,
  newChain,
  newRangeSet,
} from '../netlink/changes.ts';
import {
  compare,
  connection,
  decide,
  type Expression,
  lookup,
  meta,
  toNetworkOrder,
  type Verdict,
} from '../netlink/expressions.ts';
import type { Message } from '../netlink/message.ts';
import type { AddressPolicy } from './address-policy.ts';
import { grantChain, grantMap, grantSet, ledSet, setOf } from './elements.ts';
import { type Grant, type GrantProtocol, type Place, type PlacesGrant, QUIC_PORT } from './grants.ts';
import { acceptNoted } from './notes.ts';

/** An address' way from one policy to another; null where it has none. */
export interface PolicyChange {
  table: string;
  address: string;
  before: AddressPolicy | null;
  after: AddressPolicy | null;
}

const protocolNumbers = { icmp: 1, tcp: 6, udp: 17 } as const satisfies Record<GrantProtocol, number>;
const NOTED: Verdict = { code: 'goto', chain: acceptNoted };

/** Returns messages that make the sets which a change needs, and nothing for one that needs no new ones. */
export function messagesBefore({ table, address, before, after }: PolicyChange): Message[] {
  const chain = grantChain(address);
  const had = setsOf(chain, before?.grants ?? []);
  return [...setsOf(chain, after?.grants ?? [])].flatMap(([name, grant]) =>
    had.has(name) ? [] : setMessages({ table, name }, grant),
  );
}

/** Returns nothing for a change that is none. The sets that it needs are there. */
export function changeMessages(change: PolicyChange): Message[] {
  return [...modeMessages(change), ...portMessages(change), ...chainMessages(change)];
}

function modeMessages({ table, address, before, after }: PolicyChange): Message[] {
  if (before?.mode === after?.mode) return [];
  const element = [{ key: keyOf(address) }];
  return [
    ...(before ? deleteElements({ table, name: setOf[before.mode] }, element) : []),
    ...(after ? addElements({ table, name: setOf[after.mode] }, element) : []),
  ];
}

function portMessages({ table, address, before, after }: PolicyChange): Message[] {
  const [had, has] = [before?.ledPorts ?? [], after?.ledPorts ?? []];
  const set = { table, name: ledSet };
  const elements = (ports: number[]) => ports.map((port): Element => ({ key: keyOf(address, port) }));
  return [
    ...deleteElements(set, elements(had.filter((port) => !has.includes(port)))),
    ...addElements(set, elements(has.filter((port) => !had.includes(port)))),
  ];
}

function chainMessages({ table, address, before, after }: PolicyChange): Message[] {
  const [had, has] = [before?.grants ?? [], after?.grants ?? []];
  if (isDeepStrictEqual(had, has)) return [];
  const chain = { table, name: grantChain(address) };
  const map = { table, name: grantMap };
  const key = keyOf(address);
  const kept = setsOf(chain.name, has);
  const left = [...setsOf(chain.name, had).keys()].filter((name) => !kept.has(name));
  const cleared = [flushChain(chain), ...left.map((name) => deleteSet({ table, name }))];
  if (has.length === 0) return [...deleteElements(map, [{ key }]), ...cleared, deleteChain(chain)];
  const filled = ruleMessages(table, chain.name, has);
  if (had.length > 0) return [...cleared, ...filled];
  const verdict = { code: 'jump', chain: chain.name } as const;
  return [newChain(chain), ...filled, ...addElements(map, [{ key, verdict }])];
}

function setsOf(chain: string, grants: Grant[]): Map<string, PlacesGrant> {
  const places = grants.filter((grant) => grant.kind === 'places');
  return new Map(places.map((grant) => [grantSet(chain, grant), grant]));
}

/** Each part of a key takes four bytes. */
function keyOf(address: string, port?: number): Buffer {
  const bytes = Buffer.from(address.split('.').map(Number));
  return port === undefined ? bytes : Buffer.concat([bytes, Buffer.of(port >> 8, port & 0xff, 0, 0)]);
}

/** Fills a chain that has no rules. Its sets are there. */
function ruleMessages(table: string, chain: string, grants: Grant[]): Message[] {
  return grants.map((grant) => addRule({ table, name: chain }, expressionsOf(chain, grant)));
}

/** Makes the set of a grant. */
function setMessages(set: Named, { protocol, places }: PlacesGrant): Message[] {
  const second = protocol === 'icmp' ? keyTypes.protocol : keyTypes.port;
  return [newRangeSet(set, [keyTypes.address, second]), ...addElements(set, places.map(elementOf))];
}

function elementOf({ range, ports }: Place): Element {
  const last = range.first + 2 ** (32 - range.prefix) - 1;
  return { key: placeKeyOf(range.first, ports?.[0]), last: placeKeyOf(last, ports?.[1]) };
}

/** Returns the key of a grant's place. Without a port, its second part is the protocol of echo requests. */
function placeKeyOf(address: number, port?: number): Buffer {
  const key = Buffer.alloc(8);
  key.writeUInt32BE(address);
  if (port === undefined) key.writeUInt8(protocolNumbers.icmp, 4);
  else key.writeUInt16BE(port, 4);
  return key;
}

function expressionsOf(chain: string, grant: Grant): Expression[] {
  const { protocol } = grant;
  const isProtocol = [meta('protocol'), compare('equal', Buffer.of(protocolNumbers[protocol]))];
  if (grant.kind === 'timed')
    return [...earlierThan(grant.until), ...isProtocol, ...notQuic(protocol), decide(NOTED)];
  const verdict = decide(grant.noted ? NOTED : { code: 'accept' });
  const [destination, set] = [connection('destination'), grantSet(chain, grant)];
  if (protocol === 'icmp') return [destination, connection('protocol', 'second'), lookup(set), verdict];
  return [...isProtocol, destination, connection('destinationPort', 'second'), lookup(set), verdict];
}

function earlierThan(seconds: number): Expression[] {
  const time = Buffer.alloc(8);
  time.writeBigUInt64BE(BigInt(seconds) * 1_000_000_000n);
  return [meta('timeNs'), toNetworkOrder(), compare('less', time)];
}

function notQuic(protocol: GrantProtocol): Expression[] {
  if (protocol !== 'udp') return [];
  return [connection('destinationPort'), compare('unequal', Buffer.of(QUIC_PORT >> 8, QUIC_PORT & 0xff))];
}
