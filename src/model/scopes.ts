/** Scopes: what a key may be used for, as a part of what its owner may do. */
import { SandhavenError } from './errors.ts';
import type { Membership } from './team.ts';

/** Roles: an admin manages the service and its users; a member has sandboxes; a viewer sees, and changes nothing. */
export const roles = ['admin', 'member', 'viewer'] as const;
export type Role = (typeof roles)[number];

export const scopes = ['sandboxes:read', 'sandboxes:write', 'documents:read', 'account', 'admin'] as const;
export type Scope = (typeof scopes)[number];

/** Scopes that no viewer has. */
const notForViewers: readonly Scope[] = ['sandboxes:write', 'admin'];
/** A viewer of a team may be an admin of the service. */
const inTeamsOfViewers: readonly Scope[] = ['sandboxes:write'];
/** Scopes that are about a person, so that a key bound to a team has none of them. */
const notForTeams: readonly Scope[] = ['account', 'admin'];

interface Scoped {
  /** null: all. */
  scopes: readonly Scope[] | null;
  /** true: the key itself has less than its owner's role, whatever the role takes away besides. */
  isNarrow?: boolean;
}

/** A caller as `withinScopes` and `withinTeam` return it. */
interface Capped extends Scoped {
  role?: Role;
  team?: Pick<Membership, 'role'>;
}

export function hasScope({ scopes: given }: Scoped, scope: Scope): boolean {
  return given === null || given.includes(scope);
}

/** Throws `permission_denied`, naming the scope. */
export function assertScope(caller: Capped, scope: Scope): void {
  if (hasScope(caller, scope)) return;
  if (isKeptBack(caller, scope)) throw refusedToViewers();
  const detail = `This key, sign-in or application lacks the scope ${scope}.`;
  throw new SandhavenError('permission_denied', detail, {
    hint: 'Use a key with it, or let the application ask for it.',
  });
}

/** Returns true for a scope that the caller's role keeps back, so that no key, sign-in or grant can give it. */
export function isKeptBack(caller: Capped, scope: Scope): boolean {
  return !hasScope(caller, scope) && isViewer(caller) && notForViewers.includes(scope);
}

/**
 * Returns the caller as its key may act: an admin's key without the scope `admin` acts as a member's, and a viewer's has
 * no scope that changes sandboxes.
 */
export function withinScopes<C extends Scoped & { role: Role }>(caller: C): C {
  const own = isNarrowed(caller) ? { ...caller, isNarrow: true } : caller;
  if (own.role === 'viewer')
    return { ...own, isNarrow: isNarrowed(own), scopes: without(own, notForViewers) };
  return hasScope(own, 'admin') ? own : { ...own, role: 'member' };
}

/** Returns the caller as acting for the team: within the role there, too, and with a bound key about nothing but the team. */
export function withinTeam<C extends Scoped & { role: Role; boundTo?: string }>(
  caller: C,
  team: Membership,
): C & { team: Membership } {
  const bound = caller.boundTo !== undefined;
  const excluded = [...(team.role === 'viewer' ? inTeamsOfViewers : []), ...(bound ? notForTeams : [])];
  const scopes = excluded.length === 0 ? caller.scopes : without(caller, excluded);
  return withinScopes({ ...caller, isNarrow: bound || isNarrowed(caller), scopes, team });
}

/** Returns true for who may change nothing, by the role in the service or in the team acted for. */
export function isViewer({ role, team }: Omit<Capped, 'scopes'>): boolean {
  return role === 'viewer' || team?.role === 'viewer';
}

/** Returns true for a key, or a sign-in by one, that may do less than its user. */
export function isNarrowed({ scopes: given, isNarrow }: Scoped): boolean {
  return isNarrow ?? given !== null;
}

/** Returns the scopes that a caller may pass on: of a team that is acted for no role counts, since what is made acts for its user. */
export function ownScopes<C extends Scoped & { role: Role }>(caller: C): Scoped {
  return isNarrowed(caller) || caller.role === 'viewer' ? caller : { scopes: null };
}

/** Returns the wanted scopes that the caller lacks; `null`, for all, is more than any list. */
export function beyond({ scopes: given }: Scoped, wanted: readonly Scope[] | null): readonly Scope[] {
  if (given === null) return [];
  return (wanted ?? scopes).filter((scope) => !given.includes(scope));
}

export function refusedToViewers(): SandhavenError {
  return new SandhavenError(
    'permission_denied',
    'A viewer changes nothing, runs nothing and opens no access.',
    {
      hint: 'Ask a member to do it, or an admin for another role.',
    },
  );
}

function without({ scopes: given }: Scoped, excluded: readonly Scope[]): readonly Scope[] {
  return (given ?? scopes).filter((scope) => !excluded.includes(scope));
}
