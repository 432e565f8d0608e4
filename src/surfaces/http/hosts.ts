/**
 * Checks the names that this service answers to. A page on another site may resolve its own name to this
 * address (DNS rebinding); its requests then carry that name as Host, or its site as Origin, and are refused.
 * Texts that name the service to others take its public origin from here too, and never from an unchecked Host.
 */
import type { Server } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { invalidArgument, SandhavenError } from '../../model/errors.ts';
import { hasOneHost } from '../../model/network/arrival.ts';

interface HostCheck {
  /** Returns true when the Host header names this service. */
  knows(host: string | undefined): boolean;
  /** Throws `permission_denied` for an Origin of another site. */
  assertOrigin(origin: string | undefined): void;
}

/** @param allowedHosts Names or addresses: without a port for every port, with one for that port alone. */
export function createHostCheck(allowedHosts: readonly string[]): HostCheck {
  const allowed = new Set(allowedHosts.map((host) => host.toLowerCase()));
  const knows = (host: string | undefined) => {
    const url = host === undefined || /[/\\?#@\s]/.test(host) ? null : URL.parse(`http://${host}`);
    if (!url) return false;
    const name = url.hostname.replace(/\.$/, '');
    return allowed.has(name) || allowed.has(bare(name)) || allowed.has(`${name}:${url.port || '80'}`);
  };
  return {
    knows,
    assertOrigin(origin) {
      if (origin === undefined) return;
      const url = URL.parse(origin);
      if (url && /^https?:$/.test(url.protocol) && knows(url.host)) return;
      throw new SandhavenError('permission_denied', 'Requests from this Origin are not allowed.', {
        parameter: 'Origin',
        hint: 'Call the service from a program rather than from a page of another site.',
      });
    },
  };
}

/** In place of Node's own check, whose answer is no problem document, and which misses requests for an upgrade. */
export function assertOneHost(reply: FastifyReply): void {
  if (hasOneHost(reply.request.raw)) return;
  // The rest of the connection may be meant for another.
  reply.header('connection', 'close');
  throw invalidArgument('Host', 'The request names no host, or several.', 'Send one header Host.');
}

/** Strips the brackets of an IPv6 address. */
function bare(name: string): string {
  return name.replace(/^\[(.*)\]$/, '$1');
}

/**
 * Finds the public origin of this service that a request was sent to: the operator's --public-url, or the listener's own
 * address. The issuer of tokens is one.
 */
interface PublicOriginDependencies {
  publicUrl: string | null;
  hosts: Pick<HostCheck, 'knows'>;
  /** The listener. */
  server: Pick<Server, 'address'>;
}

type PublicOrigin = (request: Pick<FastifyRequest, 'arrival' | 'raw'>) => string | null;

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
