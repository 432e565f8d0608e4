/** `--git-allow`: Git remotes with credentials that are allowed besides public addresses. */
import { isIP } from 'node:net';
import { invalidArgument } from '../errors.ts';
import { limits } from '../limits.ts';

/** A name, a name with a port, or a network. */
export type AllowedRemote =
  | { host: string; port: number | null }
  | { network: string; prefix: number; family: 'ipv4' | 'ipv6' };

/** Throws `invalid_argument` naming the flag. `none` is the empty list. */
export function parseAllowedRemotes(flag: string, text: string): AllowedRemote[] {
  if (text.trim() === 'none') return [];
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  if (entries.length > limits.git.allowedRemotes) {
    throw invalidArgument(flag, `${flag} takes at most ${limits.git.allowedRemotes} entries.`);
  }
  return entries.map((entry) => parseRemote(flag, entry));
}

/** Returns the host and the port of a base URL, and nothing beside them. */
export function remoteAt(url: string): AllowedRemote {
  const { hostname, port, protocol } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  return { host, port: Number(port || (protocol === 'https:' ? 443 : 80)) };
}

function parseRemote(flag: string, entry: string): AllowedRemote {
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
