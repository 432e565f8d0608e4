/**
 * Filters headers: hop-by-hop headers stay on their connection, headers that only this gateway may set are
 * replaced, and everything else passes unchanged, in its order and its spelling.
 */
import type { IncomingMessage } from 'node:http';
import { CHALLENGE_COOKIE } from '../../model/access/passkeys.ts';
import { PENDING_COOKIE, SIGN_IN_COOKIE } from '../../model/access/sign-ins.ts';
import { type Arrival, hasOneHost } from '../../model/network/arrival.ts';
import { Refusal } from './refusal.ts';

export const TOKEN_HEADER = 'x-sandbox-preview-token';

const OF_THE_CONNECTION = [
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization'],
  ...['te', 'transfer-encoding', 'upgrade', 'http2-settings'],
];
const OF_THE_GATEWAY = ['forwarded', 'x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host'];
/** No Connection header may remove these: they name a message's destination and its end. */
const PROTECTED = ['host', 'content-length'];

export type RawHeaders = string[];

/** Rejects requests that two programs could read in two ways. */
export function assertPlain(request: IncomingMessage): void {
  const target = request.url ?? '';
  if (!target.startsWith('/') && !(target === '*' && request.method === 'OPTIONS')) {
    throw new Refusal(400, 'The request must name a path of this site.', { close: true });
  }
  if (!hasOneHost(request)) {
    throw new Refusal(400, 'The request names no host, or several.', { close: true });
  }
  const encoding = request.headers['transfer-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked') {
    throw new Refusal(501, 'The only supported transfer encoding is chunked.', { close: true });
  }
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Builds the headers for the application: its Host is the one that the visitor asked for.
 * @param tokenHeaders Those that carry a visitor's token, which no application gets.
 */
export function toApplication(
  request: IncomingMessage,
  { client, protocol, host = '' }: Arrival,
  upgrade: string | null,
  tokenHeaders: readonly string[],
): RawHeaders {
  const own = [...OF_THE_CONNECTION, ...OF_THE_GATEWAY, ...tokenHeaders];
  const headers = passing(request.rawHeaders, own);
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]?.toLowerCase();
    if (name === 'host') headers[at + 1] = host;
    if (name === 'cookie') headers[at + 1] = withoutSignIn(headers[at + 1] ?? '');
  }
  headers.push('X-Forwarded-For', client, 'X-Forwarded-Proto', protocol, 'X-Forwarded-Host', host);
  if (request.headers['transfer-encoding'] !== undefined) headers.push('Transfer-Encoding', 'chunked');
  else if (needsLength(request)) headers.push('Content-Length', '0');
  if (upgrade === null) headers.push('Connection', 'keep-alive');
  else headers.push('Connection', 'Upgrade', 'Upgrade', upgrade);
  return headers;
}

/** Builds the headers for the visitor. A cookie stays with the one site that sets it. */
export function toVisitor(answer: IncomingMessage, signed: boolean): RawHeaders {
  const headers = withoutOurCookies(passing(answer.rawHeaders, OF_THE_CONNECTION));
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at]?.toLowerCase() === 'set-cookie') headers[at + 1] = withoutDomain(headers[at + 1] ?? '');
  }
  // The host name is the key to a signed preview, so it stays hidden from other sites that its pages link to.
  if (signed && answer.headers['referrer-policy'] === undefined) {
    headers.push('Referrer-Policy', 'same-origin');
  }
  return headers;
}

/** An explicit empty body must stay explicit, or the HTTP client would send it chunked. */
function needsLength({ method, headers }: IncomingMessage): boolean {
  return headers['content-length'] === undefined && ['POST', 'PUT', 'PATCH'].includes(method ?? '');
}

function passing(raw: RawHeaders, dropped: string[]): RawHeaders {
  const named = valuesOf(raw, 'connection')
    .flatMap((value) => value.toLowerCase().split(','))
    .map((name) => name.trim())
    .filter((name) => !PROTECTED.includes(name));
  const drop = new Set([...dropped, ...named]);
  const headers: RawHeaders = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = '', value = ''] = raw.slice(at, at + 2);
    if (!drop.has(name.toLowerCase())) headers.push(name, value);
  }
  return headers;
}

function valuesOf(raw: RawHeaders, name: string): string[] {
  return raw.filter((_, at) => at % 2 === 1 && raw[at - 1]?.toLowerCase() === name);
}

/** Ports share their host's cookies, so one of the service's own page may come along. */
function withoutSignIn(cookies: string): string {
  const kept = cookies.split(';').filter((pair) => !isSignIn(pair));
  return kept.join(';').trim();
}

/** No application signs a browser in, or out. */
function withoutOurCookies(headers: RawHeaders): RawHeaders {
  const isOurs = (at: number) =>
    headers[at]?.toLowerCase() === 'set-cookie' && isSignIn(headers[at + 1] ?? '');
  return headers.filter((_, at) => !isOurs(at - (at % 2)));
}

function isSignIn(cookie: string): boolean {
  const name = cookie.split('=', 1)[0]?.trim();
  return name === SIGN_IN_COOKIE || name === CHALLENGE_COOKIE || name === PENDING_COOKIE;
}

function withoutDomain(cookie: string): string {
  const [pair, ...attributes] = cookie.split(';');
  return [pair, ...attributes.filter((attribute) => !/^\s*domain\s*(?:=|$)/i.test(attribute))].join(';');
}
