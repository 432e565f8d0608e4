/**
 * Origin of a request: client address, protocol and host name. A trusted proxy before a listener sets X-Forwarded-For,
 * -Proto and -Host; from any other peer these headers are ignored.
 */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { invalidArgument } from '../errors.ts';
import { limits } from '../limits.ts';

export interface Network {
  network: string;
  prefix: number;
  family: 'ipv4' | 'ipv6';
}

export interface Arrival {
  /** The client's address; empty once its connection is gone. */
  client: string;
  protocol: 'http' | 'https';
  /** Value of the header Host. */
  host: string | undefined;
}

export type Arrivals = (request: Pick<IncomingMessage, 'socket' | 'headers'>) => Arrival;

/** Throws `invalid_argument` naming the flag. `none` is the empty list. */
export function parseNetworks(flag: string, text: string): Network[] {
  if (text.trim() === 'none') return [];
  const entries = text.split(',').map((entry) => parseNetwork(flag, entry.trim()));
  if (entries.length <= limits.proxies.networks) return entries;
  throw invalidArgument(flag, `${flag} takes at most ${limits.proxies.networks} networks.`);
}

/** Uses the last entry of each header, which is the trusted proxy's own. */
export function createArrivals(trusted: readonly Network[]): Arrivals {
  const isTrusted = membership(trusted);
  return ({ socket, headers }) => {
    const direct: Arrival = {
      client: plainAddress(socket.remoteAddress ?? ''),
      protocol: 'encrypted' in socket && socket.encrypted ? 'https' : 'http',
      host: headers.host,
    };
    if (!isTrusted(direct.client)) return direct;
    const protocol = last(headers['x-forwarded-proto'])?.toLowerCase();
    return {
      client: followBack(direct.client, headers['x-forwarded-for'], isTrusted),
      protocol: protocol === 'http' || protocol === 'https' ? protocol : direct.protocol,
      host: last(headers['x-forwarded-host']) ?? direct.host,
    };
  };
}

/**
 * Returns false for a request that RFC 9112 (3.2) has answered with 400: a proxy before the service may go by another of
 * its hosts than the service does.
 */
export function hasOneHost({ rawHeaders, httpVersion }: Pick<IncomingMessage, 'rawHeaders' | 'httpVersion'>) {
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length;
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0');
}

/**
 * Returns the network of an address, for sharing places, since a client with one of its addresses has many: the /24 of an IPv4
 * address, the /64 of an IPv6 address, and any other text unchanged.
 */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  if (isIP(plain) === 4) return plain.slice(0, plain.lastIndexOf('.'));
  if (isIP(plain) !== 6) return plain;
  const [front = '', back] = plain.split('::');
  const words = front === '' ? [] : front.split(':');
  const behind = back === undefined || back === '' ? [] : back.split(':');
  const zeros = back === undefined ? 0 : 8 - words.length - behind.length;
  const all = [...words, ...Array(Math.max(0, zeros)).fill('0'), ...behind];
  return all
    .slice(0, 4)
    .map((word) => Number.parseInt(word, 16).toString(16))
    .join(':');
}

/** Follows the chain from proxy to proxy, while each is trusted; an entry without an address ends it. */
function followBack(
  nearest: string,
  header: string | string[] | undefined,
  isTrusted: (address: string) => boolean,
): string {
  let client = nearest;
  for (const entry of entriesOf(header).toReversed().slice(0, limits.proxies.chain)) {
    const address = addressOf(entry);
    if (address === null) break;
    client = address;
    if (!isTrusted(address)) break;
  }
  return client;
}

/** Parses an entry; some proxies add the client's port. */
function addressOf(entry: string): string | null {
  const [, bracketed, dotted] = /^(?:\[([^\]]+)\](?::\d+)?|(\d+(?:\.\d+){3}):\d+)$/.exec(entry) ?? [];
  const address = plainAddress(bracketed ?? dotted ?? entry);
  return isIP(address) === 0 ? null : address;
}

function membership(networks: readonly Network[]): (address: string) => boolean {
  // Two lists: a BlockList of both would also look up an IPv4 address among IPv6 ranges, in its mapped form.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const { network, prefix, family } of networks) lists[family].addSubnet(network, prefix, family);
  return (address) => {
    const version = isIP(address);
    if (version === 0) return false;
    const family = version === 4 ? 'ipv4' : 'ipv6';
    return lists[family].check(address, family);
  };
}

function parseNetwork(flag: string, entry: string): Network {
  const [, network = '', digits] = /^([0-9a-fA-F:.]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
  const version = isIP(network);
  const bits = version === 4 ? 32 : 128;
  const prefix = digits === undefined ? bits : Number(digits);
  if (version !== 0 && prefix <= bits) return { network, prefix, family: version === 4 ? 'ipv4' : 'ipv6' };
  throw invalidArgument(
    flag,
    `${flag} must be addresses or networks with commas between, and '${entry}' was given.`,
    'For example 127.0.0.1,10.1.0.0/16; none when no proxy is before the service.',
  );
}

function last(header: string | string[] | undefined): string | undefined {
  return entriesOf(header).at(-1);
}

function entriesOf(header: string | string[] | undefined): string[] {
  return [header ?? []]
    .flat()
    .flatMap((value) => value.split(','))
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/** Returns the IPv4 address that a socket of both families shows in its mapped form. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}
