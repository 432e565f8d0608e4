/**
 * Applications that act for people over MCP: clients, and what they may say of themselves; grants, what a person has let one do.
 * Times are milliseconds since the epoch.
 */
import { limits } from '../limits.ts';
import type { Scope } from '../scopes.ts';

/** A client that has registered itself. */
export interface OAuthClient {
  id: string;
  /** In its own words; null without one. */
  name: string | null;
  redirectUris: readonly string[];
  /** Network that it was registered from. */
  network: string;
  createdAt: number;
  /** Removed after it, unless it has a grant. */
  expiresAt: number;
}

export interface Grant {
  id: string;
  userId: string;
  clientId: string;
  /** In the client's own words, as the person has seen it. */
  clientName: string | null;
  /** Host that the code was sent to. */
  redirectHost: string;
  /** URL of MCP that its tokens are good for. */
  resource: string;
  scopes: readonly Scope[];
  createdAt: number;
  lastUsedAt: number;
  /** Each refresh moves it. */
  expiresAt: number;
}

/** Scopes that tools need, and so all that an application can have: the others open nothing over MCP. */
export const toolScopes = [
  'sandboxes:read',
  'sandboxes:write',
  'documents:read',
] as const satisfies readonly Scope[];

/** Returns the scopes of tools in a list with spaces between, each once, in their own order. */
export function toolScopesIn(text: string): Scope[] {
  const named = new Set(text.split(' '));
  return toolScopes.filter((scope) => named.has(scope));
}

/**
 * Returns true for a code or token that was used, and whose next use is somebody else's. Clients refresh from requests side
 * by side, as the official one does, so a refresh token may be used again for a moment.
 */
export function isSpent(kind: string, consumedAt: number | null, now: number): boolean {
  if (consumedAt === null) return false;
  return kind !== 'refresh' || now - consumedAt >= limits.oauth.refreshOverlapMs;
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Returns the reason against a redirect URI, or null. A code goes to one of them, so each has to be a place that its owner alone
 * receives from: https, or the loopback of the person's own machine.
 *
 * Source: RFC 8252, sections 7.3 and 8.3, and RFC 9700, section 4.1.
 */
export function faultOfRedirectUri(text: unknown): string | null {
  if (typeof text !== 'string') return 'it is no text';
  if (text.length > limits.oauth.redirectUriChars) return 'it is too long';
  // Programs read these in more than one way.
  if (!/^[\x21-\x7e]+$/.test(text) || /[\\<>"`{}|^]/.test(text)) return 'it has characters that no URL has';
  const url = URL.parse(text);
  if (url === null) return 'it is no URL';
  if (text.includes('#')) return 'it has a fragment';
  if (text.includes('*')) return 'it has a wildcard';
  const authority = /^https?:\/\/([^/?]*)/.exec(text)?.[1];
  if (authority === undefined) return 'it is neither https nor http on loopback';
  if (authority.includes('@')) return 'it has a user name';
  // 127.1 and %31 mean 127.0.0.1 to some programs, and nothing to others.
  if (authority.replace(/:\d*$/, '') !== url.hostname || url.hostname.endsWith('.'))
    return 'its host is in no plain form';
  const isLoopback = LOOPBACK.has(url.hostname);
  if (url.protocol === 'http:' && !isLoopback) return 'it is neither https nor http on loopback';
  if (url.protocol === 'https:' && isLoopback) return 'loopback has no https';
  return null;
}

/** Returns the host with its port, as people should see it. */
export function hostOfRedirectUri(uri: string): string {
  return URL.parse(uri)?.host ?? '';
}

/**
 * Returns the name of a client for people to read: plain text on one line, in bounds, without what is not seen or turns the text
 * around. Returns null where nothing is left.
 */
export function clientNameOf(text: unknown): string | null {
  if (typeof text !== 'string') return null;
  const plain = text
    .toWellFormed()
    .replace(/[\s\p{Z}]+/gu, ' ')
    .replace(/\p{C}/gu, '')
    .trim();
  return Array.from(plain).slice(0, limits.oauth.clientNameChars).join('').trim() || null;
}
