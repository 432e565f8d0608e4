/** Refuses callers who are no admins, by their role as their key has it. */
import { SandhavenError } from '../errors.ts';
import type { Role } from '../scopes.ts';

/**
 * Throws `permission_denied`.
 * @param name Of what is for admins.
 */
export function assertAdmin({ role }: { role: Role }, name: string): void {
  if (role === 'admin') return;
  throw new SandhavenError('permission_denied', `${name} is for admins, and this key's owner is a ${role}.`, {
    hint: 'Ask an admin to do it, or use the key of one.',
  });
}
