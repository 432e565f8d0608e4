/**
 * The one rule for addresses that others choose and the service connects to: public ones, and those that the operator has
 * allowed besides by `--git-allow` or `--webhook-allow`. Without it a URL would be a way into the operator's own network.
 */
import { BlockList, isIP } from 'node:net';
import { invalidArgument } from '../errors.ts';
import { limits } from '../limits.ts';
import { isPublic } from './public-addresses.ts';

/** A name, a name with a port, or a network. */
export type AllowedHost =
  | { host: string; port: number | null }
  | { network: string; prefix: number; family: 'ipv4' | 'ipv6' };

/** A host, an IPv6 address without brackets, with the port of a connection. */
export interface Target {
  host: string;
  port: number;
}

export function targetOf({ hostname, port, protocol }: URL): Target {
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (protocol === 'https:' ? 443 : 80)) };
}

/** Returns true when the operator has named this host: it may then have any address. */
export function isNamed({ host, port }: Target, allowed: readonly AllowedHost[]): boolean {
  return allowed.some(
    (entry) => 'host' in entry && entry.host === host && (entry.port === null || entry.port === port),
  );
}

/** Returns true for a public address, and for one in a network that the operator has allowed. */
export function mayConnect(address: string, allowed: readonly AllowedHost[]): boolean {
  return isPublic(address) || isInNetworks(address, allowed);
}

export function isInNetworks(address: string, allowed: readonly AllowedHost[]): boolean {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  return allowed.some((entry) => {
    if ('host' in entry || entry.family !== family) return false;
    const list = new BlockList();
    list.addSubnet(entry.network, entry.prefix, entry.family);
    return list.check(address, family);
  });
}

/** Throws `invalid_argument` naming the flag. `none` is the empty list. */
export function parseAllowedHosts(flag: string, text: string): AllowedHost[] {
  if (text.trim() === 'none') return [];
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  if (entries.length > limits.outbound.allowedHosts) {
    throw invalidArgument(flag, `${flag} takes at most ${limits.outbound.allowedHosts} entries.`);
  }
  return entries.map((entry) => parseEntry(flag, entry));
}

function parseEntry(flag: string, entry: string): AllowedHost {
  const [, network = '', digits] = /^([0-9a-fA-F:.]+?)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
  const family = isIP(network);
  if (family !== 0) {
    const bits = family === 4 ? 32 : 128;
    const prefix = digits === undefined ? bits : Number(digits);
    if (prefix <= bits) return { network, prefix, family: family === 4 ? 'ipv4' : 'ipv6' };
  }
  const [, host, port] = /^([A-Za-z0-9_][A-Za-z0-9._-]*)(?::(\d{1,5}))?$/.exec(entry) ?? [];
  if (family === 0 && host !== undefined && Number(port ?? 0) <= 65_535) {
    return { host: host.toLowerCase(), port: port === undefined ? null : Number(port) };
  }
  throw invalidArgument(
    flag,
    `${flag} must be hosts, host:port or networks with commas between, and '${entry}' was given.`,
    'For example git.internal,10.1.0.0/16; none for public addresses only.',
  );
}
