/**
 * Receivers that a webhook may have. A member chooses the URL and the service connects, so without these rules a webhook
 * would be a way into the operator's own network. Public addresses are free; others need `--webhook-allow`.
 */
import { BlockList, isIP } from 'node:net';
import { invalidArgument, type SandhavenError } from '../errors.ts';
import type { AllowedRemote } from '../git/allowed-remotes.ts';
import { limits } from '../limits.ts';
import { isPublicIPv4, isPublicIPv6 } from '../network/public-addresses.ts';

/** Entries of `--webhook-allow`: a name, a name with a port, or a network. */
export type AllowedReceiver = AllowedRemote;

const HINT = 'For example https://example.org/hooks. The operator allows others with --webhook-allow.';

/** Returns the URL in its plain form. Throws `invalid_argument` by what it says; its name is resolved at each attempt. */
export function parseReceiver(text: string, allowed: readonly AllowedReceiver[]): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    throw wrong('url must be an https URL.');
  }
  if (url.href.length > limits.webhooks.urlChars) {
    throw wrong(`url has ${url.href.length} characters; at most ${limits.webhooks.urlChars} fit.`);
  }
  if (url.username !== '' || url.password !== '') throw wrong('url must not hold credentials.');
  if (url.hash !== '' || text.includes('#')) throw wrong('url must not have a fragment.');
  if (isNamed(url, allowed)) return url.href;
  if (url.protocol !== 'https:') throw wrong('url must begin with https://.');
  if (!limits.webhooks.ports.includes(portOf(url))) {
    throw wrong(`url must have port ${limits.webhooks.ports.join(' or ')}.`);
  }
  if (isIP(hostOf(url)) !== 0 && !mayConnect(url, [hostOf(url)], allowed)) {
    throw wrong('url must have a public address.');
  }
  return url.href;
}

/** Returns true when the service may connect to any of the addresses: of a name with a private one beside, to none. */
export function mayConnect(
  url: URL,
  addresses: readonly string[],
  allowed: readonly AllowedReceiver[],
): boolean {
  if (addresses.length === 0) return false;
  if (isNamed(url, allowed)) return true;
  if (url.protocol !== 'https:' || !limits.webhooks.ports.includes(portOf(url))) return false;
  return addresses.every((address) => isPublic(address) || isInNetworks(address, allowed));
}

/** Returns the host without the brackets of an IPv6 address. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

export function portOf(url: URL): number {
  return Number(url.port || (url.protocol === 'https:' ? 443 : 80));
}

/** Returns true when the operator has named this host, or a network that this very address is in: then scheme and port are free, too. */
export function isNamed(url: URL, allowed: readonly AllowedReceiver[]): boolean {
  const host = hostOf(url);
  if (isIP(host) !== 0 && isInNetworks(host, allowed)) return true;
  return allowed.some(
    (entry) => 'host' in entry && entry.host === host && (entry.port === null || entry.port === portOf(url)),
  );
}

function isPublic(address: string): boolean {
  const version = isIP(address);
  if (version === 0) return false;
  return version === 4 ? isPublicIPv4(address) : isPublicIPv6(address);
}

function isInNetworks(address: string, allowed: readonly AllowedReceiver[]): boolean {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  return allowed.some((entry) => {
    if ('host' in entry || entry.family !== family) return false;
    const list = new BlockList();
    list.addSubnet(entry.network, entry.prefix, entry.family);
    return list.check(address, family);
  });
}

function wrong(detail: string): SandhavenError {
  return invalidArgument('url', detail, HINT);
}
