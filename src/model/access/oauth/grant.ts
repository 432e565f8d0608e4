/** Grants: what a person has let an application do over MCP. Times are milliseconds since the epoch. */
import { limits } from '../../limits.ts';
import type { Scope } from '../../scopes.ts';

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
