/** Who calls, and what is kept of users and of their keys. Times are milliseconds since the epoch. */
import type { Quota } from './quota.ts';

/** An admin manages the service and its users; a member has sandboxes of their own. */
export const roles = ['admin', 'member'] as const;
export type Role = (typeof roles)[number];

export interface User {
  id: string;
  name: string;
  email: string;
}

/** A user as it is stored. */
export interface Account extends User {
  role: Role;
  createdAt: number;
  /** null: enabled. The keys of a disabled user open nothing. */
  disabledAt: number | null;
  /** What this user may have instead of the service's defaults. */
  quota: Partial<Quota>;
}

/** A user, through one of the keys. */
export interface Caller extends User {
  role: Role;
  /** Says which key it was without helping to guess it. */
  keyId: string;
  /** null: never. */
  keyExpiresAt: number | null;
}

export const keyStates = ['valid', 'expired', 'revoked'] as const;
export type KeyState = (typeof keyStates)[number];

/** What is kept of a key besides its hash. */
export interface ApiKey {
  id: string;
  userId: string;
  /** What it is for, in its owner's words. */
  name: string;
  createdAt: number;
  /** null: never. */
  expiresAt: number | null;
  lastUsedAt: number | null;
  revokedAt: number | null;
}
