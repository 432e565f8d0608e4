/**
 * Decides the hosts that the gateway may connect to. A URL comes from a caller and the connection from the service,
 * so without this rule a clone would be a way into the operator's own network. Public addresses are free; others
 * need `--git-allow`.
 */
import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { SandhavenError } from '../../model/errors.ts';
import type { AllowedRemote } from '../../model/git/allowed-remotes.ts';
import type { GitUrl } from '../../model/git/url.ts';
import { isPublicIPv4, isPublicIPv6 } from '../../model/network/public-addresses.ts';

export interface Address {
  address: string;
  family: 4 | 6;
}

export type Resolve = (host: string) => Promise<Address[]>;

export const resolveHost: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address, family }) => ({
    address,
    family: family === 6 ? 6 : 4,
  }));

/** Returns the addresses that a connection to this remote may use, at least one. They are not looked up again. */
export async function reachableAddresses(
  remote: GitUrl,
  allowed: AllowedRemote[],
  resolve: Resolve,
): Promise<Address[]> {
  const host = remote.host.replace(/^\[|\]$/g, '');
  const found = await addressesOf(host, resolve);
  if (allowed.some((entry) => 'host' in entry && entry.host === host && allowsPort(entry.port, remote))) {
    return found;
  }
  const open = found.filter((address) => isPublic(address) || isAllowed(address, allowed));
  if (open.length > 0) return open;
  throw new SandhavenError('permission_denied', `The service does not connect to ${remote.host}.`, {
    parameter: 'url',
    hint: 'Its address is not public. The operator of the service can allow it with --git-allow.',
  });
}

async function addressesOf(host: string, resolve: Resolve): Promise<Address[]> {
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family: family === 6 ? 6 : 4 }];
  const found = await resolve(host).catch((error: unknown) => {
    throw unknownHost(host, error);
  });
  if (found.length === 0) throw unknownHost(host);
  return found;
}

function unknownHost(host: string, cause?: unknown): SandhavenError {
  return new SandhavenError(
    'unavailable',
    `The host ${host} is not found.`,
    { parameter: 'url', hint: 'Check the URL.' },
    cause,
  );
}

function isPublic({ address, family }: Address): boolean {
  return family === 4 ? isPublicIPv4(address) : isPublicIPv6(address);
}

function isAllowed({ address, family }: Address, allowed: AllowedRemote[]): boolean {
  const kind = family === 4 ? 'ipv4' : 'ipv6';
  return allowed.some((entry) => {
    if ('host' in entry || entry.family !== kind) return false;
    const list = new BlockList();
    list.addSubnet(entry.network, entry.prefix, entry.family);
    return list.check(address, kind);
  });
}

function allowsPort(port: number | null, remote: GitUrl): boolean {
  return port === null || port === (remote.port ?? (remote.scheme === 'https' ? 443 : 80));
}
