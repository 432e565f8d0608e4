/** Scopes: what a key may be used for, as a part of what its owner may do. */
import { SandhavenError } from '../errors.ts';

export const scopes = ['sandboxes:read', 'sandboxes:write', 'documents:read', 'account', 'admin'] as const;
export type Scope = (typeof scopes)[number];

interface Scoped {
  /** null: all. */
  scopes: readonly Scope[] | null;
}

export function hasScope({ scopes: given }: Scoped, scope: Scope): boolean {
  return given === null || given.includes(scope);
}

/** Throws `permission_denied`, naming the scope. */
export function assertScope(caller: Scoped, scope: Scope): void {
  if (hasScope(caller, scope)) return;
  throw new SandhavenError('permission_denied', `The API key lacks the scope ${scope}.`, {
    hint: `Use a key with it: \`sandhaven keys create NAME --scopes ${scope},…\`, or one without --scopes for all.`,
  });
}

/** Returns the caller as its key may act: an admin's key without the scope `admin` acts as a member's. */
export function withinScopes<C extends Scoped & { role: string }>(caller: C): C {
  return hasScope(caller, 'admin') ? caller : { ...caller, role: 'member' };
}

/** Returns the wanted scopes that the caller lacks; `null`, for all, is more than any list. */
export function beyond({ scopes: given }: Scoped, wanted: readonly Scope[] | null): readonly Scope[] {
  if (given === null) return [];
  return (wanted ?? scopes).filter((scope) => !given.includes(scope));
}
