/** Grants as messages for the kernel: the sets and rules of `grant-text.ts`. */
import { addElements, addRule, type Element, keyTypes, type Named, newRangeSet } from '../netlink/changes.ts';
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
import { grantSet } from './grant-text.ts';
import { type Grant, type GrantProtocol, type Place, type PlacesGrant, QUIC_PORT } from './grants.ts';
import { acceptNoted } from './packet-notes.ts';

const protocolNumbers = { icmp: 1, tcp: 6, udp: 17 } as const satisfies Record<GrantProtocol, number>;
const NOTED: Verdict = { code: 'goto', chain: acceptNoted };

/** Fills a chain that has no rules. Its sets are there. */
export function ruleMessages(table: string, chain: string, grants: Grant[]): Message[] {
  return grants.map((grant) => addRule({ table, name: chain }, expressionsOf(chain, grant)));
}

/** Makes the set of a grant. */
export function setMessages(set: Named, { protocol, places }: PlacesGrant): Message[] {
  const second = protocol === 'icmp' ? keyTypes.protocol : keyTypes.port;
  return [newRangeSet(set, [keyTypes.address, second]), ...addElements(set, places.map(elementOf))];
}

function elementOf({ range, ports }: Place): Element {
  const last = range.first + 2 ** (32 - range.prefix) - 1;
  return { key: keyOf(range.first, ports?.[0]), last: keyOf(last, ports?.[1]) };
}

/** Each part takes four bytes. Without a port, the second one is the protocol of echo requests. */
function keyOf(address: number, port?: number): Buffer {
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
    return [...before(grant.until), ...isProtocol, ...notQuic(protocol), decide(NOTED)];
  const verdict = decide(grant.noted ? NOTED : { code: 'accept' });
  const [destination, set] = [connection('destination'), grantSet(chain, grant)];
  if (protocol === 'icmp') return [destination, connection('protocol', 'second'), lookup(set), verdict];
  return [...isProtocol, destination, connection('destinationPort', 'second'), lookup(set), verdict];
}

function before(seconds: number): Expression[] {
  const time = Buffer.alloc(8);
  time.writeBigUInt64BE(BigInt(seconds) * 1_000_000_000n);
  return [meta('timeNs'), toNetworkOrder(), compare('less', time)];
}

function notQuic(protocol: GrantProtocol): Expression[] {
  if (protocol !== 'udp') return [];
  return [connection('destinationPort'), compare('unequal', Buffer.of(QUIC_PORT >> 8, QUIC_PORT & 0xff))];
}
