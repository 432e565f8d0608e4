/**
 * Checks the names that this service answers to. A page on another site may resolve its own name to this
 * address (DNS rebinding); its requests then carry that name as Host, or its site as Origin, and are refused.
 */
import type { FastifyReply } from 'fastify';
import { invalidArgument, SandhavenError } from '../../model/errors.ts';
import { hasOneHost } from '../../model/network/arrival.ts';

export interface HostCheck {
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
