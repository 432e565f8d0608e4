/** Admission by the identity provider: who may sign in, and as what. Groups decide anew at every sign-in. */
import { SandhavenError } from '../errors.ts';
import type { Role } from '../user.ts';
import type { IdentityClaims } from './identity.ts';

export interface AdmissionRules {
  /** Members of one of these are admins. */
  adminGroups: readonly string[];
  /** Empty: everybody at an address of `emailDomains` is a member. */
  memberGroups: readonly string[];
  /** In lower case. Empty: any. */
  emailDomains: readonly string[];
}

/**
 * Returns the role that the claims give; null where no group gives roles, so a user keeps the one there is. Throws
 * `permission_denied` for people without a place here.
 */
export function admit(
  { email, emailVerified, groups }: Pick<IdentityClaims, 'email' | 'emailVerified' | 'groups'>,
  { adminGroups, memberGroups, emailDomains }: AdmissionRules,
): Role | null {
  if (emailVerified === false) throw unverified();
  if (emailDomains.length > 0) {
    // An address that nobody has checked proves no domain.
    if (email === null || emailVerified !== true) throw unverified();
    if (!emailDomains.includes(domainOf(email))) throw outside();
  }
  const isIn = (wanted: readonly string[]) => (groups ?? []).some((group) => wanted.includes(group));
  if (isIn(adminGroups)) return 'admin';
  if (memberGroups.length > 0 ? isIn(memberGroups) : emailDomains.length > 0)
    return adminGroups.length > 0 ? 'member' : null;
  throw inNoGroup(groups === null);
}

function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1).toLowerCase();
}

function unverified(): SandhavenError {
  return new SandhavenError(
    'permission_denied',
    'The identity provider does not confirm that your e-mail address is yours.',
    { hint: 'Confirm the address at the identity provider, or ask its administrator.' },
  );
}

function outside(): SandhavenError {
  return new SandhavenError(
    'permission_denied',
    'Your e-mail address is of no domain that may sign in here.',
    {
      hint: 'Sign in with another account, or ask the operator of this service.',
    },
  );
}

function inNoGroup(hasNone: boolean): SandhavenError {
  const what = hasNone
    ? 'The identity provider names no groups of yours, so you may not sign in here.'
    : 'You are in no group that may sign in here.';
  return new SandhavenError('permission_denied', what, {
    hint: 'Ask the administrator of the identity provider for the group, or an admin here for a key.',
  });
}
