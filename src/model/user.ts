/** Users, callers and API keys. Times are milliseconds since the epoch. */

import type { Role } from './access/roles.ts';
import type { Scope } from './access/scopes.ts';
import type { Quota } from './quota.ts';

export { type Role, roles } from './access/roles.ts';

export interface User {
  id: string;
  name: string;
  email: string;
}

/** A stored user. */
export interface Account extends User {
  role: Role;
  createdAt: number;
  /** null: enabled. The keys of a disabled user do not work. */
  disabledAt: number | null;
  /** Quota of this user in place of the service's defaults. */
  quota: Partial<Quota>;
}

/** A user, authenticated by one of the keys. */
export interface Caller extends User {
  role: Role;
  /** Identifies the key without helping to guess it. */
  keyId: string;
  /** null: never. */
  keyExpiresAt: number | null;
  /** null: all that the role allows. */
  scopes: readonly Scope[] | null;
}

export const keyStates = ['valid', 'expired', 'revoked'] as const;
export type KeyState = (typeof keyStates)[number];

/** A stored key, besides its hash. */
export interface ApiKey {
  id: string;
  userId: string;
  /** Purpose, in its owner's words. */
  name: string;
  createdAt: number;
  /** null: never. */
  expiresAt: number | null;
  lastUsedAt: number | null;
  revokedAt: number | null;
  /** null: all that its owner's role allows. */
  scopes: readonly Scope[] | null;
}
