/**
 * Filters of system calls and of a socket's packets. The kernel keeps a copy and a compiled form of each, which it
 * charges to nobody and bounds for the whole host: past that bound no machine could start, since each begins with
 * such a filter. The refusal is that of a kernel without them.
 *
 * The kernel reads 32 bits of each of these arguments, so every comparison has a mask.
 */
import { allow, masked, type Range, refuse, type SeccompRule, within } from './rule.ts';

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
