/**
 * The user that a person of the identity provider is: found by issuer and subject, made at the first sign-in. A user that
 * is there with the same e-mail address is somebody else, unless the browser is signed in as that user, or until an admin
 * links the two.
 */
import type { Identity, IdentityClaims } from '../../model/access/identity.ts';
import { SandhavenError } from '../../model/errors.ts';
import { newUserId } from '../../model/ids.ts';
import { isNarrowed } from '../../model/scopes.ts';
import { readingId } from '../../model/team.ts';
import type { Account, Caller, Role } from '../../model/user.ts';
import type { CallerRights } from '../callers/caller-rights.ts';
import type { IdentityStore, UserStore } from '../ports/index.ts';

export interface ArrivalStore {
  users: Pick<UserStore, 'findUser' | 'updateUser'>;
  identities: Pick<IdentityStore, 'findUserOf' | 'enrol' | 'link'>;
}

export interface Arrival {
  /** By the person's groups; null: a user keeps the one there is. A viewer is made a member by admins alone. */
  role: Role | null;
  /** Whom the browser is signed in as; null: nobody. */
  signedIn: Caller | null;
  callerRights: Pick<CallerRights, 'ended'>;
  now: number;
}

/**
 * Rejects with `permission_denied` for a disabled user, with `already_exists` where the address belongs to another user.
 */
export async function arrive(
  { users, identities }: ArrivalStore,
  claims: IdentityClaims,
  { role, signedIn, callerRights, now }: Arrival,
): Promise<Account> {
  const identity: Identity = { issuer: claims.issuer, subject: claims.subject };
  const known =
    (await identities.findUserOf(identity)) ??
    (await linked({ users, identities }, identity, claims, { signedIn, now })) ??
    (await enrolled(identities, identity, claims, role, now));
  if (known.disabledAt !== null) throw disabled();
  // An admin's restriction outlives a sign-in that grants no more than membership.
  const keeps = role === null || role === known.role || (role === 'member' && known.role === 'viewer');
  if (keeps) return known;
  const changed = await users.updateUser(known.id, () => ({ role }));
  if (role !== 'admin') callerRights.ended(readingId(known.id));
  if (!changed || changed.disabledAt !== null) throw disabled();
  return changed;
}

/**
 * Links the person with the user whom the browser is signed in as, where both have one address: each of the two has just
 * been proven. A key with scopes gains no way in without them.
 */
async function linked(
  { users, identities }: ArrivalStore,
  identity: Identity,
  { email }: IdentityClaims,
  { signedIn, now }: Pick<Arrival, 'signedIn' | 'now'>,
): Promise<Account | null> {
  if (!signedIn || isNarrowed(signedIn) || email?.toLowerCase() !== signedIn.email.toLowerCase()) return null;
  await identities.link({ ...identity, userId: signedIn.id, linkedAt: now }, null);
  return users.findUser(signedIn.id);
}

async function enrolled(
  identities: ArrivalStore['identities'],
  identity: Identity,
  { email, name }: IdentityClaims,
  role: Role | null,
  now: number,
): Promise<Account> {
  if (email === null) throw nameless();
  const account = { id: newUserId(), name: name ?? email.slice(0, 100), email, role: role ?? 'member' };
  try {
    return await identities.enrol({ ...account, createdAt: now, disabledAt: null, quota: {} }, identity);
  } catch (error) {
    const isTaken = error instanceof SandhavenError && error.code === 'already_exists';
    throw isTaken ? emailOfAnother(identity.subject) : error;
  }
}

function disabled(): SandhavenError {
  return new SandhavenError('permission_denied', 'An admin has disabled your user.', {
    hint: 'Ask an admin of this service; your account at the identity provider is not the reason.',
  });
}

function nameless(): SandhavenError {
  return new SandhavenError(
    'failed_precondition',
    'The identity provider gives no e-mail address of yours.',
    {
      hint: 'The operator adds the scope that has it with --oidc-scopes, or an admin makes a user and links you.',
    },
  );
}

const LINK =
  'If that user is you, sign this browser in with a key, a link or a passkey, and then by the identity provider.';

/** Shows the subject only where it means nothing to a shell: an admin copies the command. */
function emailOfAnother(subject: string): SandhavenError {
  const isPlain = /^[A-Za-z0-9][A-Za-z0-9._:@=+-]*$/.test(subject);
  return new SandhavenError(
    'already_exists',
    'A user with your e-mail address is here already, and is not linked with your account at the identity provider.',
    {
      hint: isPlain
        ? `${LINK} Who never came in asks an admin to run: sandhaven identities link EMAIL --subject ${subject}`
        : LINK,
    },
  );
}
