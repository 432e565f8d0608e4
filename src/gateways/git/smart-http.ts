/**
 * Implements the part of HTTP that Git's smart protocol needs: three endpoints of one repository. Every other
 * request from inside is refused, and every header that is not named here is dropped, both ways. A remote's
 * refusal becomes an error for the caller.
 */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { GitAccess, GitPurpose } from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import type { GitUrl } from '../../model/git/url.ts';

export type GitRequest = 'advertisement' | 'exchange';

/** Returns null for a request that a git started for this purpose never sends. */
export function requestOf(
  { method, url }: { method?: string | undefined; url?: string | undefined },
  nonce: string,
  { service }: GitPurpose,
): GitRequest | null {
  if (method === 'GET' && url === `/${nonce}/info/refs?service=${service}`) return 'advertisement';
  return method === 'POST' && url === `/${nonce}/${service}` ? 'exchange' : null;
}

/** Returns the part of the remote's path after the repository's own. */
export function pathOf(request: GitRequest, { service }: GitPurpose): string {
  return request === 'advertisement' ? `/info/refs?service=${service}` : `/${service}`;
}

export function contentTypeOf(request: GitRequest, { service }: GitPurpose): string {
  return `application/x-${service}-${request === 'advertisement' ? 'advertisement' : 'result'}`;
}

/**
 * Builds the request headers for the remote. Whatever else git inside sent, credentials and cookies above all,
 * is dropped.
 */
export function headersToRemote(
  request: GitRequest,
  purpose: GitPurpose,
  given: IncomingHttpHeaders,
  login: GitAccess['login'],
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    'user-agent': 'git/2.47.0 (sandhaven)',
    accept: request === 'advertisement' ? '*/*' : contentTypeOf(request, purpose),
  };
  if (login) {
    const basic = Buffer.from(`${login.username}:${login.password}`).toString('base64');
    headers['authorization'] = `Basic ${basic}`;
  }
  const version = given['git-protocol'];
  if (typeof version === 'string' && /^version=\d(?::[a-z0-9=:-]{1,60})?$/.test(version)) {
    headers['git-protocol'] = version;
  }
  const encodings = given['accept-encoding'];
  if (typeof encodings === 'string' && /\bgzip\b/.test(encodings)) headers['accept-encoding'] = 'gzip';
  if (request === 'advertisement') return headers;
  headers['content-type'] = `application/x-${purpose.service}-request`;
  if (given['content-encoding'] === 'gzip') headers['content-encoding'] = 'gzip';
  if (/^\d{1,15}$/.test(given['content-length'] ?? '')) headers['content-length'] = given['content-length'];
  return headers;
}

/** Builds the response headers for git inside. */
export function headersToGit(
  request: GitRequest,
  purpose: GitPurpose,
  given: IncomingHttpHeaders,
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    'content-type': contentTypeOf(request, purpose),
    'cache-control': 'no-cache',
  };
  if (/^\d{1,15}$/.test(given['content-length'] ?? '')) headers['content-length'] = given['content-length'];
  if (/^(?:gzip|deflate)$/.test(given['content-encoding'] ?? '')) {
    headers['content-encoding'] = given['content-encoding'];
  }
  return headers;
}

const HOST_CHARS = 255;

/** Maps a remote's refusal to an error for the caller. Of the remote's own text only a host name is passed on. */
export function faultOfStatus(remote: GitUrl, purpose: GitPurpose, status: number): SandhavenError {
  if (status === 401 || status === 403) return credentialsRefused(remote, purpose, status);
  if (status === 404 || status === 410) {
    return new SandhavenError('not_found', `${remote.host} has no such repository for this user.`, {
      resource: 'repository',
      parameter: 'url',
      hint: 'Check the URL, and that the user of these credentials may see the repository.',
    });
  }
  if (status === 429 || status >= 500) {
    return new SandhavenError('unavailable', `${remote.host} answers with status ${status}.`, {
      hint: 'Try again later.',
    });
  }
  return new SandhavenError('failed_precondition', `${remote.host} answers with status ${status}.`, {
    hint: 'Check the URL of the repository.',
  });
}

export function notGit(remote: GitUrl): SandhavenError {
  return new SandhavenError('failed_precondition', `${remote.host} does not answer like a Git server.`, {
    parameter: 'url',
    hint: "Give the URL of the repository itself; the remote must speak Git's smart HTTP protocol.",
  });
}

/** @param host Target of the redirect; null for a redirect loop, or a redirect after the first request. */
export function elsewhere(remote: GitUrl, host: string | null): SandhavenError {
  const where = host === null ? 'again and again' : `to ${plain(host)}`;
  return new SandhavenError('failed_precondition', `${remote.host} redirects ${where}.`, {
    parameter: 'url',
    hint: 'Credentials are never sent to another address: clone from the one that it redirects to.',
  });
}

function credentialsRefused(remote: GitUrl, purpose: GitPurpose, status: number): SandhavenError {
  const doing = purpose.service === 'git-receive-pack' ? 'push' : 'read';
  const known = status === 403;
  return new SandhavenError(
    'permission_denied',
    known
      ? `The remote ${remote.host} accepts these credentials, but does not let them ${doing} here.`
      : `The remote ${remote.host} refuses these credentials.`,
    {
      hint: known
        ? 'Use a token that may do this.'
        : 'Clone again with a username and password (a personal access token) that are valid.',
    },
  );
}

function plain(host: string): string {
  return host.replaceAll(/[^A-Za-z0-9.:[\]-]/g, '?').slice(0, HOST_CHARS);
}
