/** Scopes that a new key may have: never more than the sign-in that makes it, and `admin` for admins alone. */
import type { Role } from '../service/records.ts';

export const scopeMeanings = {
  'sandboxes:read': 'Tools that change nothing, downloads, the stream of changes',
  'sandboxes:write': 'All other tools of sandboxes, uploads, tunnels, terminals',
  'documents:read': 'The document database; saving a result needs sandboxes:write too',
  account: 'Own keys, usage, authorizations and audit log',
  admin: 'Users, keys of all, registries, the whole audit log',
} as const;

export type Scope = keyof typeof scopeMeanings;

/** Scopes about a person, which no key that is bound to a team has. */
const notForTeams: readonly Scope[] = ['account', 'admin'];

/** @param mine Scopes of the sign-in; null: all. */
export function offeredScopes(
  mine: readonly string[] | null,
  owner: { role: Role; isTeam: boolean },
): Scope[] {
  const all = Object.keys(scopeMeanings) as Scope[];
  return all.filter(
    (scope) =>
      (mine?.includes(scope) ?? true) &&
      (scope !== 'admin' || owner.role === 'admin') &&
      !(owner.isTeam && notForTeams.includes(scope)),
  );
}

/** @returns the parameter of CreateKey; none for a key that may do all that its owner may do. */
export function scopesParameter(isLimited: boolean, chosen: readonly string[]): { scopes?: string[] } {
  return isLimited ? { scopes: [...chosen] } : {};
}
