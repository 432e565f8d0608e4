/**
 * Implements the part of HTTP that Git's smart protocol needs: three endpoints of one repository. Every other
 * request from inside is refused, and every header that is not named here is dropped, both ways.
 */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { GitAccess, GitPurpose } from '../../control/ports/index.ts';

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
