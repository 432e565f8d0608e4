/**
 * Ways in that an admin makes for somebody else. Whoever holds one acts as that user, so where admins may not read inside, an
 * admin makes the first one alone: for a user who never came in. What was removed later opens no door again.
 */
import { SandhavenError } from '../errors.ts';

/** Passkeys, passwords, sign-ins, machines and applications are not counted: only who has come in makes those. */
export interface WaysIn {
  /** Time of the first sign-in, or the first call with a key; null: the user never came in. */
  enteredAt: number | null;
  /** Keys that are valid, those that are bound to a team included. */
  keys: number;
  /** One-time links that are neither used nor over. */
  links: number;
  /** People of identity providers, earlier ones included. */
  identities: number;
}

/** An admin who makes a way in for another user. */
export interface Maker {
  id: string;
  /** true: it may be the first one alone, since admins may not read inside. */
  invites: boolean;
}

/** Throws `permission_denied` for a user who has, or has had, a way in. */
export function assertInvitable({ enteredAt, keys, links, identities }: WaysIn): void {
  if (enteredAt !== null) throw refused('has come in already', OWN_WAYS);
  if (keys > 0) throw refused('has a valid key already', 'Revoke it to make another one.');
  if (links > 0) throw refused('has a link already', 'It is over after 15 minutes: make another one then.');
  if (identities > 0) throw refused('signs in by the identity provider', OWN_WAYS);
}

const OWN_WAYS =
  'Only they make more: a key with `sandhaven keys create`, a link with `sandhaven sign-ins link`. For one who has lost all of ' +
  'them, the operator restarts the service with --admins-read-inside yes: see docs/users.md.';

function refused(why: string, hint: string): SandhavenError {
  return new SandhavenError(
    'permission_denied',
    `The user ${why}, and admins may not read inside: who makes a way in acts as the user.`,
    { parameter: 'user', hint },
  );
}
