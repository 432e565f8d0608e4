/** Scopes: what a key may be used for, as a part of what its owner may do. */
import { SandhavenError } from '../errors.ts';
import type { Role } from './roles.ts';

export const scopes = ['sandboxes:read', 'sandboxes:write', 'documents:read', 'account', 'admin'] as const;
export type Scope = (typeof scopes)[number];

/** Scopes that no viewer has. */
const notForViewers: readonly Scope[] = ['sandboxes:write', 'admin'];

interface Scoped {
  /** null: all. */
  scopes: readonly Scope[] | null;
}

/** A caller as `withinScopes` returns it. */
interface Capped extends Scoped {
  role?: Role;
}

export function hasScope({ scopes: given }: Scoped, scope: Scope): boolean {
  return given === null || given.includes(scope);
}

/** Throws `permission_denied`, naming the scope. */
export function assertScope(caller: Capped, scope: Scope): void {
  if (hasScope(caller, scope)) return;
  if (caller.role === 'viewer' && notForViewers.includes(scope)) throw refusedToViewers();
  throw new SandhavenError('permission_denied', `The API key lacks the scope ${scope}.`, {
    hint: `Use a key with it: \`sandhaven keys create NAME --scopes ${scope},…\`, or one without --scopes for all.`,
  });
}

/**
 * Returns the caller as its key may act: an admin's key without the scope `admin` acts as a member's, and a viewer's has
 * no scope that changes sandboxes.
 */
export function withinScopes<C extends Scoped & { role: Role }>(caller: C): C {
  if (caller.role === 'viewer') return { ...caller, scopes: without(caller, notForViewers) };
  return hasScope(caller, 'admin') ? caller : { ...caller, role: 'member' };
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
