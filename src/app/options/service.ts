/** Flags of the service itself: what it keeps, what it shows, who may do what. */
import type { Rate } from '../../fairness/rate.ts';
import { invalidArgument } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { parseAllowedHosts } from '../../model/network/allowed-hosts.ts';
import { parseRegions } from '../../model/region.ts';
import { parseStoreUrl } from '../../model/store-address.ts';
import { flag, parseCount, yesOrNo } from './flag.ts';

export const serviceFlags = {
  /** Data directory of the service. */
  dataDir: flag({
    name: 'data-dir',
    default: '/var/lib/sandhaven',
    help: 'data directory of the service',
    parse: (text) => text,
  }),
  /** The PostgreSQL database of the store; SQLite in the data directory without it. */
  storeUrl: flag({
    name: 'store',
    default: '',
    help: 'PostgreSQL database of the store: postgres://user@host/name; else a file in --data-dir',
    parse: (text, { flag }) => (text === '' ? null : parseStoreUrl(flag, text)),
  }),
  /** Retention of audit rows in days; 0 keeps them forever. */
  auditKeptDays: flag({
    name: 'audit-kept-days',
    default: String(limits.audit.keptDays.default),
    help: 'days that audit rows are kept; 0 keeps them forever',
    parse: (text, { flag }) => parseCount(flag, text, limits.audit.keptDays.max),
  }),
  /** Region of this service, and others to list beside it. */
  regions: flag({
    name: 'region',
    default: '',
    help: 'region of the service: id=…,name=…,city=…,country=…; after a semicolon, other regions to list',
    parse: (text, { flag }) => parseRegions(flag, text),
  }),
  /** Groups of tools that MCP and lists of tools show, with commas between. */
  toolsets: flag({
    name: 'toolsets',
    default: 'all',
    help: 'groups of tools that MCP clients see, such as files,git',
    parse: (text) => text,
  }),
  /** Passwords as a way to sign in. */
  passwordSignIn: flag({
    name: 'password-sign-in',
    default: 'no',
    help: 'yes: users may set a password and sign in with it, unless they have a passkey',
    parse: yesOrNo,
  }),
  /** Admins as readers of everybody's sandboxes. */
  adminsReadInside: flag({
    name: 'admins-read-inside',
    default: 'no',
    help: "yes: admins may read inside everybody's sandboxes, as a viewer of a team may",
    parse: yesOrNo,
  }),
  /** Ports that owners open to everybody. */
  publicPorts: flag({
    name: 'public-ports',
    default: 'no',
    help: 'yes: owners may open ports of their sandboxes to everybody, at the addresses of previews',
    parse: yesOrNo,
  }),
  /** Collector of traces, by OpenTelemetry's protocol over HTTP. */
  otlpEndpoint: flag({
    name: 'otlp-endpoint',
    default: '',
    help: 'OTLP collector for traces, such as http://127.0.0.1:4318; without it there are no traces',
    parse: (text) => text,
  }),
  /** Non-public hosts and networks of receivers that webhooks may have. */
  webhookAllow: flag({
    name: 'webhook-allow',
    default: 'none',
    help: 'hosts, host:port and networks that receivers of webhooks may be on besides public ones, or none',
    parse: (text, { flag }) => parseAllowedHosts(flag, text),
  }),
  /** Rate limit of each key. */
  rate: flag({
    name: 'rate',
    default: 'none',
    help: 'calls of each key a second, such as 50, or 50/200 for up to 200 at once',
    parse: (text, { flag }) => parseRate(flag, text),
  }),
};

/** Parses `50/200`: calls a second and burst; the burst defaults to the calls of one second. */
function parseRate(flag: string, text: string): Rate | null {
  if (text === 'none') return null;
  const [perSecond = '', burst = perSecond, ...more] = text.split('/');
  const parsed = { perSecond: Number(perSecond), burst: Number(burst) };
  const whole = [perSecond, burst].every((part) => /^\d{1,6}$/.test(part) && Number(part) > 0);
  if (whole && more.length === 0) return parsed;
  throw invalidArgument(
    flag,
    `${flag} must be a number of calls a second, and '${text}' was given.`,
    'For example 50, 50/200 for up to 200 at once, or none.',
  );
}
