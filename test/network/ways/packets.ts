/** IPv4 and IPv6 packets and Ethernet frames, byte by byte, for tests that send what no program's socket would. */
import { isIPv4 } from 'node:net';

export const protocols = {
  icmp: 1,
  igmp: 2,
  ipip: 4,
  tcp: 6,
  udp: 17,
  dccp: 33,
  ipv6: 41,
  gre: 47,
  esp: 50,
  sctp: 132,
  udpLite: 136,
  experimental: 253,
} as const;

export const etherTypes = { ipv4: 0x0800, arp: 0x0806, vlan: 0x8100, ipv6: 0x86dd } as const;

export const tcpFlags = { fin: 1, syn: 2, reset: 4, push: 8, ack: 16, urgent: 32 } as const;

interface Addresses {
  from: string;
  to: string;
}

export interface IPv4 extends Addresses {
  protocol: number;
  payload: Buffer;
  /** Multiple of four bytes. */
  options?: Buffer;
  /** Place in the whole, in units of eight bytes. */
  fragment?: { id: number; offset: number; isLast: boolean };
}

export function ipv4({ from, to, protocol, payload, options = Buffer.alloc(0), fragment }: IPv4): Buffer {
  const head = Buffer.alloc(20 + options.length);
  head[0] = 0x40 | (head.length / 4);
  head.writeUInt16BE(head.length + payload.length, 2);
  if (fragment) {
    head.writeUInt16BE(fragment.id, 4);
    head.writeUInt16BE((fragment.isLast ? 0 : 0x2000) | fragment.offset, 6);
  }
  head[8] = 64;
  head[9] = protocol;
  addressBytes(from).copy(head, 12);
  addressBytes(to).copy(head, 16);
  options.copy(head, 20);
  head.writeUInt16BE(checksum(head), 10);
  return Buffer.concat([head, payload]);
}

export function ipv6({ from, to }: Addresses, nextHeader: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(40);
  head[0] = 0x60;
  head.writeUInt16BE(payload.length, 4);
  head[6] = nextHeader;
  head[7] = 64;
  return Buffer.concat([head.subarray(0, 8), addressBytes(from), addressBytes(to), payload]);
}

/** A datagram for `ipv4` and `ipv6`. */
export function udp(ends: Addresses, ports: [number, number], data: Buffer): Buffer {
  const whole = Buffer.alloc(8 + data.length);
  whole.writeUInt16BE(ports[0], 0);
  whole.writeUInt16BE(ports[1], 2);
  whole.writeUInt16BE(whole.length, 4);
  data.copy(whole, 8);
  whole.writeUInt16BE(checksum(withPseudoHead(ends, protocols.udp, whole)) || 0xffff, 6);
  return whole;
}

/** A segment whose data may stand beside any flags. */
export function tcp(ends: Addresses, ports: [number, number], flags: number, data: Buffer): Buffer {
  const whole = Buffer.alloc(20 + data.length);
  whole.writeUInt16BE(ports[0], 0);
  whole.writeUInt16BE(ports[1], 2);
  whole.writeUInt32BE(7_000, 4);
  if (flags & tcpFlags.ack) whole.writeUInt32BE(8_000, 8);
  whole[12] = 5 << 4;
  whole[13] = flags;
  whole.writeUInt16BE(65_535, 14);
  data.copy(whole, 20);
  whole.writeUInt16BE(checksum(withPseudoHead(ends, protocols.tcp, whole)), 16);
  return whole;
}

export function icmp(type: number, code: number, data: Buffer): Buffer {
  const whole = Buffer.concat([Buffer.from([type, code, 0, 0, 0x12, 0x34, 0, 1]), data]);
  whole.writeUInt16BE(checksum(whole), 2);
  return whole;
}

/** Says that an IPv4 address is at this hardware address, which nobody asked. */
export function arpReply(address: string, hardware: Buffer, data: Buffer): Buffer {
  const head = Buffer.from([0, 1, 8, 0, 6, 4, 0, 2]);
  const own = Buffer.concat([hardware, addressBytes(address)]);
  return Buffer.concat([head, own, own, data]);
}

export function frame(to: Buffer, from: Buffer, etherType: number, payload: Buffer): Buffer {
  return Buffer.concat([to, from, Buffer.from([etherType >> 8, etherType & 255]), payload]);
}

/** Bytes of `aa:bb:cc:dd:ee:ff`. */
export function hardwareBytes(text: string): Buffer {
  return Buffer.from(text.replaceAll(':', ''), 'hex');
}

/** An option that leads a packet over further addresses (loose source route). */
export function sourceRoute(...over: string[]): Buffer {
  const option = Buffer.concat([Buffer.from([131, 3 + over.length * 4, 4]), ...over.map(addressBytes)]);
  return Buffer.concat([option, Buffer.alloc((4 - (option.length % 4)) % 4)]);
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [before = '', after] = address.split('::');
  const groups = (text: string) => text.split(':').filter((group) => group !== '');
  const [first, last] = [groups(before), groups(after ?? '')];
  const all = [...first, ...Array(8 - first.length - last.length).fill('0'), ...last];
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
}

function withPseudoHead({ from, to }: Addresses, protocol: number, whole: Buffer): Buffer {
  const tail = Buffer.alloc(8);
  tail.writeUInt32BE(whole.length, 0);
  tail[7] = protocol;
  return Buffer.concat([addressBytes(from), addressBytes(to), tail, whole]);
}

function checksum(bytes: Buffer): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += (bytes[at] ?? 0) * 256 + (bytes[at + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}
