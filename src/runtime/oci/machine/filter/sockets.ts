/**
 * Sockets: local ones, TCP, UDP and echo of IPv4 and IPv6, and the netlink of routes. What a kernel may lack is refused as by one
 * that does, which programs know how to go on from; what needs a right, such as a raw socket, is refused as without the right.
 */
import { allow, masked, type Range, refuse, type SeccompRule, within } from './rule.ts';

const EPROTONOSUPPORT = 93;
const EAFNOSUPPORT = 97;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const IPPROTO_TCP = 6;
const IPPROTO_UDP = 17;
const IPPROTO_ICMP = 1;
const IPPROTO_ICMPV6 = 58;
/** DCCP, SCTP, UDP-Lite and MPTCP. */
const LACKING_PROTOCOLS = [33, 132, 136, 262];
const NETLINK_ROUTE = 0;

/** All other netlinks. At any other error from that of auditing useradd, su and sudo give up. */
const OTHER_NETLINKS: Range[] = [
  [1, 1],
  [2, 2],
  [4, 4],
  [8, 8],
  [16, 16],
];
/** All other families but AF_PACKET (17), which needs a right. */
const OTHER_FAMILIES: Range[] = [
  [0, 1],
  [3, 1],
  [4, 4],
  [8, 2],
  [11, 1],
  [12, 4],
  [18, 2],
  [20, 4],
  [24, 8],
  [32, 32],
];

export const sockets: SeccompRule[] = [
  allow('socket', whole(0, AF_UNIX)),
  ...[0, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP].map((protocol) => made(AF_INET, protocol)),
  ...[0, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMPV6].map((protocol) => made(AF_INET6, protocol)),
  made(AF_NETLINK, NETLINK_ROUTE),
  ...[AF_INET, AF_INET6].flatMap((family) =>
    LACKING_PROTOCOLS.map((protocol) =>
      refuse('socket', EPROTONOSUPPORT, whole(0, family), whole(2, protocol)),
    ),
  ),
  ...OTHER_NETLINKS.map((range) => refuse('socket', EPROTONOSUPPORT, whole(0, AF_NETLINK), within(2, range))),
  ...OTHER_FAMILIES.map((range) => refuse('socket', EAFNOSUPPORT, within(0, range))),
  allow('socketpair', whole(0, AF_UNIX)),
];

function made(family: number, protocol: number): SeccompRule {
  return allow('socket', whole(0, family), whole(2, protocol));
}

function whole(index: number, value: number) {
  return masked(index, 0xffffffff, value);
}
