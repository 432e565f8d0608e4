/** Users, callers and API keys. Times are milliseconds since the epoch. */

import { SandhavenError } from './errors.ts';
import type { Quota } from './quota.ts';
import type { OneSandbox } from './sandbox-access.ts';
import type { Role, Scope } from './scopes.ts';
import type { Membership } from './team.ts';

export { type Role, roles } from './scopes.ts';

export interface User {
  id: string;
  name: string;
  email: string;
  /** Team that the user acts for at present: it owns what the user works with. */
  team?: Membership;
  /** The one sandbox that the caller's token opens; absent for keys and sign-ins. */
  only?: OneSandbox;
}

/** Returns the id of the owner whose sandboxes and snapshots the user works with: the team's, or the user's own. */
export function ownerIdOf({ id, team }: Pick<User, 'id' | 'team'>): string {
  return team?.id ?? id;
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
  /** Id of the team that the key is bound to: it opens nothing else. */
  boundTo?: string;
  /** null: all that the role allows. */
  scopes: readonly Scope[] | null;
  /** true: the key itself has less than that. */
  isNarrow?: boolean;
  /** Id of the admin who made the key, or what the sign-in came by, for the user; absent for the user's own. */
  keyMadeBy?: string;
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
  /** Team that the key is bound to; null: none. */
  teamId: string | null;
  /** Id of the admin who made it for the user; null: the user's own. */
  createdBy: string | null;
}

/**
 * Throws `permission_denied` for who is no admin, by the role that the key has.
 * @param name Of what is for admins.
 */
export function assertAdmin({ role }: { role: Role }, name: string): void {
  if (role === 'admin') return;
  throw new SandhavenError('permission_denied', `${name} is for admins, and this key's owner is a ${role}.`, {
    hint: 'Ask an admin to do it, or use the key of one.',
  });
}
