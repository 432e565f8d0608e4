/**
 * Finds the public origin of this service that a request was sent to. Texts that name the service to others, such as the
 * issuer of tokens, take it from here, and never from an unchecked Host: it is the operator's --public-url, or the
 * listener's own address.
 */
import type { Server } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { HostCheck } from './hosts.ts';

export interface PublicOriginDependencies {
  publicUrl: string | null;
  hosts: Pick<HostCheck, 'knows'>;
  /** The listener. */
  server: Pick<Server, 'address'>;
}

export type PublicOrigin = (request: Pick<FastifyRequest, 'arrival' | 'raw'>) => string | null;

const STANDARD_PORTS: Record<string, string> = { 'http:': '80', 'https:': '443' };

/** Returns null where the request names an address that others may not be sent to. */
export function createPublicOrigin({ publicUrl, hosts, server }: PublicOriginDependencies): PublicOrigin {
  const known = publicUrl === null ? null : new URL(publicUrl).origin;
  return ({ arrival: { protocol, host }, raw }) => {
    const url = host === undefined || !hosts.knows(host) ? null : URL.parse(`${protocol}://${host}`);
    if (url === null || url.hostname.endsWith('.')) return null;
    if (url.origin === known) return known;
    // A proxy in between could lead elsewhere, as could another program's port.
    const isDirect = host === raw.headers.host && raw.headers['x-forwarded-host'] === undefined;
    const named = url.port || STANDARD_PORTS[url.protocol];
    const listening = server.address();
    const port = typeof listening === 'object' ? listening?.port : null;
    return isDirect && named === String(port) ? url.origin : null;
  };
}
