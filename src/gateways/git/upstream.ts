/** Sends requests to one remote repository: its origin, its path and its checked addresses are fixed. */
import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Readable } from 'node:stream';
import { gatherPieces } from '../../fairness/body-pieces.ts';
import { SandhavenError } from '../../model/errors.ts';
import type { GitUrl } from '../../model/git/url.ts';
import type { Target } from '../../model/network/allowed-hosts.ts';
import { type Address, pinnedLookup } from '../../outbound/addresses.ts';

export interface Timing {
  connectMs: number;
  idleMs: number;
}

export interface Upstream {
  /** Path of the repository, without a trailing slash; a redirect within the origin may change it once. */
  path: string;
  send(ask: {
    method: 'GET' | 'POST';
    path: string;
    headers: OutgoingHttpHeaders;
    body?: Readable;
    signal: AbortSignal;
  }): Promise<IncomingMessage>;
  /** Returns the path of a `Location` on this origin, or else the host that it names. */
  redirect(location: string, from: string): { path: string } | { elsewhere: string };
  close(): void;
}

/** Returns where a remote is connected to. */
export function targetOf({ host, port, scheme }: GitUrl): Target {
  return { host: host.replace(/^\[|\]$/g, ''), port: port ?? (scheme === 'https' ? 443 : 80) };
}

export function openUpstream(remote: GitUrl, addresses: Address[], timing: Timing): Upstream {
  const secure = remote.scheme === 'https';
  const options = { keepAlive: true, maxSockets: 4, lookup: pinnedLookup(addresses) };
  const agent = secure ? new HttpsAgent(options) : new HttpAgent(options);
  const { host: hostname, port } = targetOf(remote);
  const origin = `${remote.scheme}://${remote.host}${remote.port === null ? '' : `:${remote.port}`}`;
  return {
    path: remote.path.replace(/\/+$/, ''),
    send: ({ method, path, headers, body, signal }) =>
      new Promise((resolve, reject) => {
        const target = { hostname, port, method, path, headers, agent, signal };
        const sent = secure ? httpsRequest(target) : httpRequest(target);
        let late: SandhavenError | null = null;
        const expire = (error: SandhavenError) => () => {
          late = error;
          sent.destroy(error);
        };
        const connecting = setTimeout(expire(notAnswering(remote)), timing.connectMs);
        sent.on('socket', (socket) => {
          if (!socket.connecting) clearTimeout(connecting);
          else socket.once(secure ? 'secureConnect' : 'connect', () => clearTimeout(connecting));
        });
        sent.setTimeout(timing.idleMs, expire(silent(remote, timing.idleMs)));
        sent.once('response', (answer) => {
          gatherPieces(answer);
          resolve(answer);
        });
        sent.once('close', () => clearTimeout(connecting));
        sent.on('error', (error) => reject(late ?? brokenBy(error, remote)));
        if (!body) sent.end();
        else {
          body.once('error', () => sent.destroy());
          body.pipe(sent);
        }
      }),
    redirect(location, from) {
      const target = URL.parse(location, `${origin}${from}`);
      if (target?.origin !== origin) return { elsewhere: target?.host ?? 'an address that is not one' };
      return { path: `${target.pathname}${target.search}` };
    },
    close: () => agent.destroy(),
  };
}

export function silent(remote: GitUrl, idleMs: number): SandhavenError {
  return new SandhavenError('timeout', `${remote.host} has been silent for ${idleMs / 1_000} seconds.`, {
    hint: 'Try again later.',
    retryable: true,
  });
}

function notAnswering(remote: GitUrl): SandhavenError {
  return new SandhavenError('unavailable', `${remote.host} does not answer.`, {
    hint: 'Check the URL, or try again later.',
  });
}

/** Maps a connection failure to an error for the caller; of the failure's own text only a TLS code is shown. */
export function brokenBy(error: unknown, remote: GitUrl): SandhavenError {
  if (error instanceof SandhavenError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (/^(?:CERT_|DEPTH_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_)/.test(code)) {
    return new SandhavenError(
      'failed_precondition',
      `The certificate of ${remote.host} cannot be trusted (${code}).`,
      { hint: 'The operator of the service can add an authority with NODE_EXTRA_CA_CERTS.' },
      error,
    );
  }
  const detail = code === 'ECONNREFUSED' ? 'refuses the connection' : 'cannot be reached, or broke off';
  return new SandhavenError(
    'unavailable',
    `${remote.host} ${detail}.`,
    { hint: 'Check the URL, or try again later.' },
    error,
  );
}
