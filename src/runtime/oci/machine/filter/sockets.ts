/** Rules of the filter beside those of system calls: which sockets, and no filters of filters. */
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

const EINVAL = 22;
const ENOSYS = 38;
const ENOPROTOOPT = 92;
const ALL_BITS = 0xffffffff;

const PR_SET_SECCOMP = 22;
/** PR_GET_AUXV, PR_SET_VMA and PR_SET_PTRACER, far from the others. */
const FAR_OPTIONS = [0x41555856, 0x53564d41, 0x59616d61];

const SOL_SOCKET = 1;
const SO_ATTACH_FILTER = 26;
const SO_ATTACH_REUSEPORT_CBPF = 51;
/** Levels of which every option is allowed: IP, TCP, UDP, IPv6, ICMPv6, raw, netlink, TLS. */
const OTHER_LEVELS = [0, 6, 17, 41, 58, 255, 270, 282];

const OPTIONS: Range[] = [
  [0, 16],
  [16, 4],
  [20, 2],
  [23, 1],
  [24, 8],
  [32, 32],
  [64, 64],
];
const SOCKET_OPTIONS: Range[] = [
  ...([
    [0, 16],
    [16, 8],
    [24, 2],
    [27, 1],
    [28, 4],
    [32, 16],
  ] as const),
  ...([
    [48, 2],
    [50, 1],
    [52, 4],
    [56, 8],
    [64, 64],
  ] as const),
];

export const withoutFilters: SeccompRule[] = [
  { names: ['seccomp'], action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS },
  refuse('prctl', EINVAL, masked(0, ALL_BITS, PR_SET_SECCOMP)),
  ...FAR_OPTIONS.map((option) => allow('prctl', masked(0, ALL_BITS, option))),
  ...OPTIONS.map((range) => allow('prctl', within(0, range))),
  ...[SO_ATTACH_FILTER, SO_ATTACH_REUSEPORT_CBPF].map((option) =>
    refuse('setsockopt', ENOPROTOOPT, masked(1, ALL_BITS, SOL_SOCKET), masked(2, ALL_BITS, option)),
  ),
  ...OTHER_LEVELS.map((level) => allow('setsockopt', masked(1, ALL_BITS, level))),
  ...SOCKET_OPTIONS.map((range) => allow('setsockopt', masked(1, ALL_BITS, SOL_SOCKET), within(2, range))),
];
