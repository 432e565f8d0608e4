/** Packets that a sandbox may try to send past its rules, each with a mark by which it would be seen elsewhere. */
import {
  etherTypes,
  frame,
  icmp,
  ipv4,
  ipv6,
  protocols,
  sourceRoute,
  tcp,
  tcpFlags,
  udp,
} from './packets.ts';

/** Addresses that packets name. */
export interface Places {
  own: string;
  neighbour: string;
  gateway: string;
  host: string;
  /** Its UDP port 9000 is granted. */
  granted: string;
  /** An address that the resolver gave for a name of a rule for https. */
  allowed: string;
  /** Public, and of no rule. */
  forbidden: string;
  resolver: string;
  own6: string;
  /** Hardware addresses: of the sandbox, the host's end of its link, and a neighbour. */
  hardware: { own: Buffer; host: Buffer; neighbour: Buffer };
}

export const grantedPort = 9_000;

type Way = (mark: Buffer, places: Places) => Buffer[];

const { syn, ack, fin, push, reset, urgent } = tcpFlags;
const toHost = ({ hardware }: Places, packet: Buffer, etherType: number = etherTypes.ipv4) =>
  frame(hardware.host, hardware.own, etherType, packet);

/** To a port of an address, which is one of no rule unless it is given. */
const datagram =
  (
    port: number,
    to: keyof Omit<Places, 'hardware'> = 'forbidden',
    from: keyof Omit<Places, 'hardware'> = 'own',
  ): Way =>
  (mark, places) => {
    const ends = { from: places[from], to: places[to] };
    return [
      toHost(places, ipv4({ ...ends, protocol: protocols.udp, payload: udp(ends, [4_000, port], mark) })),
    ];
  };

const segment =
  (flags: number): Way =>
  (mark, places) => {
    const ends = { from: places.own, to: places.forbidden };
    return [
      toHost(
        places,
        ipv4({ ...ends, protocol: protocols.tcp, payload: tcp(ends, [4_001, 443], flags, mark) }),
      ),
    ];
  };

const other =
  (protocol: number, head: number[] = [], to: 'forbidden' | 'granted' = 'forbidden'): Way =>
  (mark, places) => {
    const payload = Buffer.concat([Buffer.from(head), mark]);
    return [toHost(places, ipv4({ from: places.own, to: places[to], protocol, payload }))];
  };

const message =
  (type: number, code = 0): Way =>
  (mark, places) => {
    const ends = { from: places.own, to: places.forbidden };
    return [toHost(places, ipv4({ ...ends, protocol: protocols.icmp, payload: icmp(type, code, mark) }))];
  };

const inner = (mark: Buffer, { own, forbidden }: Places) => {
  const ends = { from: own, to: forbidden };
  return ipv4({ ...ends, protocol: protocols.udp, payload: udp(ends, [4_002, 9], mark) });
};

const inIPv6 =
  (to: string): Way =>
  (mark, places) => {
    const ends = { from: places.own6, to };
    return [toHost(places, ipv6(ends, protocols.udp, udp(ends, [4_003, 53], mark)), etherTypes.ipv6)];
  };

/** A datagram cut into fragments at these places, in units of eight bytes. */
const fragments = (
  to: string,
  mark: Buffer,
  places: Places,
  cuts: { id: number; port: number; at: number[] },
) => {
  const ends = { from: places.own, to };
  const whole = udp(ends, [4_004, cuts.port], Buffer.concat([Buffer.alloc(24, '.'), mark, Buffer.alloc(5)]));
  return cuts.at.map((offset, index) => {
    const next = cuts.at[index + 1];
    const payload = whole.subarray(offset * 8, next === undefined ? undefined : next * 8);
    const fragment = { id: cuts.id, offset, isLast: next === undefined };
    return toHost(places, ipv4({ ...ends, protocol: protocols.udp, payload, fragment }));
  });
};

export const packetWays: Record<string, Way> = {
  'UDP to an address of no rule': datagram(9_000),
  'UDP to another port of a granted address': datagram(9_001, 'granted'),
  'QUIC to an address that the resolver gave': datagram(443, 'allowed'),
  'DNS over UDP to another resolver': datagram(53, 'resolver'),
  'DNS over QUIC to another resolver': datagram(853, 'resolver'),
  'the time of a server (NTP)': datagram(123),
  'a tunnel of WireGuard': datagram(51_820),
  'an echo request (ping), with data in it': message(8),
  'an echo reply that nobody asked for': message(0),
  'a request for a timestamp (ICMP)': message(13),
  'an error of ICMP with data in it': message(3, 3),
  'an error of ICMP about a granted datagram': (mark, places) => {
    const ends = { from: places.granted, to: places.own };
    const answered = ipv4({
      ...ends,
      protocol: protocols.udp,
      payload: udp(ends, [grantedPort, 4_005], mark),
    });
    const there = { from: places.own, to: places.granted };
    const first = udp(there, [4_005, grantedPort], Buffer.from('first'));
    return [
      toHost(places, ipv4({ ...there, protocol: protocols.udp, payload: first })),
      toHost(places, ipv4({ ...there, protocol: protocols.icmp, payload: icmp(3, 3, answered) })),
    ];
  },
  SCTP: other(protocols.sctp, [0x0f, 0xa0, 0x01, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0]),
  DCCP: other(protocols.dccp, [0x0f, 0xa0, 0x01, 0xbb, 4, 0, 0, 0, 0, 0, 0, 1]),
  'UDP-Lite': other(protocols.udpLite, [0x0f, 0xa0, 0, 53, 0, 8, 0, 0]),
  ESP: other(protocols.esp, [0, 0, 0, 1, 0, 0, 0, 1]),
  'a membership report (IGMP)': other(protocols.igmp, [0x16, 0, 0, 0, 224, 1, 2, 3]),
  'a protocol without a name': other(protocols.experimental),
  'a protocol without a name, to a granted address': other(protocols.experimental, [], 'granted'),
  'GRE with a packet inside': (mark, places) =>
    other(protocols.gre, [0, 0, 8, 0])(inner(mark, places), places),
  'IPv4 inside IPv4': (mark, places) => other(protocols.ipip)(inner(mark, places), places),
  'IPv6 inside IPv4 (6to4)': (mark, places) => {
    const ends = { from: '2002:ad5:1::1', to: '2002:cb00:7142::1' };
    return other(protocols.ipv6)(ipv6(ends, protocols.udp, udp(ends, [4_006, 53], mark)), places);
  },
  'a source route over the gateway': (mark, places) => {
    const ends = { from: places.own, to: places.gateway };
    const payload = udp(ends, [4_007, 53], mark);
    return [
      toHost(
        places,
        ipv4({ ...ends, protocol: protocols.udp, payload, options: sourceRoute(places.forbidden) }),
      ),
    ];
  },
  'a source route over a granted address': (mark, places) => {
    const ends = { from: places.own, to: places.granted };
    const payload = udp(ends, [4_008, grantedPort], mark);
    return [
      toHost(
        places,
        ipv4({ ...ends, protocol: protocols.udp, payload, options: sourceRoute(places.forbidden) }),
      ),
    ];
  },
  'a datagram under the address of a neighbour whose network is open': datagram(
    9_000,
    'forbidden',
    'neighbour',
  ),
  'a datagram under the gateway’s address': datagram(9_000, 'forbidden', 'gateway'),
  'a datagram under the host’s public address': datagram(9_000, 'forbidden', 'host'),
  'a datagram under the address that it goes to': datagram(9_000, 'forbidden', 'forbidden'),
  'a datagram to a neighbour': datagram(9_000, 'neighbour'),
  'a frame to the hardware address of a neighbour': (mark, places) => {
    const ends = { from: places.own, to: places.neighbour };
    const packet = ipv4({ ...ends, protocol: protocols.udp, payload: udp(ends, [4_009, 9_000], mark) });
    return [frame(places.hardware.neighbour, places.hardware.own, etherTypes.ipv4, packet)];
  },
  'a frame of a virtual network (802.1Q)': (mark, places) => {
    const tagged = Buffer.concat([Buffer.from([0, 5, 8, 0]), inner(mark, places)]);
    return [toHost(places, tagged, etherTypes.vlan)];
  },
  'a datagram in fragments': (mark, places) =>
    fragments(places.forbidden, mark, places, { id: 1, port: 9_000, at: [0, 1] }),
  'a fragment whose first one never comes': (mark, places) =>
    fragments(places.forbidden, mark, places, { id: 2, port: 9_000, at: [0, 1] }).slice(1),
  'a granted port in a fragment that another one overlaps': (mark, places) => [
    ...fragments(places.granted, mark, places, { id: 3, port: grantedPort, at: [0, 2] }).slice(0, 1),
    ...fragments(places.granted, mark, places, { id: 3, port: 9_001, at: [0, 3] }),
  ],
  'data in the first segment (TCP Fast Open)': segment(syn),
  'a segment of no connection': segment(ack | push),
  'an answer to a handshake that nobody began (split handshake)': segment(syn | ack),
  'a beginning and an end in one segment': segment(syn | fin),
  'a segment without flags': segment(0),
  'a segment with all flags': segment(syn | ack | fin | push | reset | urgent),
  'a reset with data': segment(reset),
  'IPv6 to a public address': inIPv6('2001:db8::66'),
  'IPv6 to an IPv4 address by a translator (NAT64)': inIPv6('64:ff9b::cb00:7142'),
  'IPv6 to an IPv4 address by 6to4': inIPv6('2002:cb00:7142::1'),
  'IPv6 to a mapped IPv4 address': inIPv6('::ffff:cb00:7142'),
  'IPv6 to all on the link': inIPv6('ff02::1'),
};
