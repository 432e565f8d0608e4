/**
 * Ways in that an admin makes for somebody else. Whoever holds one acts as that user, so where admins may not read inside, an
 * admin makes the first one alone: for a user who never came in. What was removed later opens no door again.
 */
import { randomInt } from 'node:crypto';
import { SandhavenError } from '../errors.ts';
import type { Scope } from '../scopes.ts';

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

// Sign-ins of machines without a browser of their own: the machine shows a short code, its user enters the code on the page
// and approves it there, and the machine gets a key.
//
// Source: OAuth 2.0 Device Authorization Grant (RFC 8628); codes as in its section 6.1.

/** Consonants alone, so that no word comes out, and none that look alike. 20^8 codes: 34.5 bits. */
const ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ';
const GROUP = 4;

export interface DeviceSignIn {
  /** Shown and entered by people; not secret. */
  userCode: string;
  /** Name that the machine gives itself: anybody's words. */
  machine: string;
  /** IP address that asked. */
  address: string;
  createdAt: number;
  expiresAt: number;
}

/** The key that a user has approved. */
export interface DeviceGrant {
  userId: string;
  /** null: all that the user may do. */
  scopes: readonly Scope[] | null;
  keyMinutes: number;
}

export type DeviceAnswer =
  | { status: 'pending' }
  | { status: 'denied' }
  | { status: 'approved'; machine: string; grant: DeviceGrant }
  /** Unknown, over, or answered before. */
  | { status: 'over' };

/** Draws one such as "BCDF-GHJK". */
export function newUserCode(): string {
  const letters = Array.from({ length: 2 * GROUP }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return `${letters.slice(0, GROUP)}-${letters.slice(GROUP)}`;
}

/** Reads a code as people type it: in small letters, with or without the hyphen. Returns null for anything else. */
export function readUserCode(typed: string): string | null {
  const letters = typed.toUpperCase().replaceAll(/[\s-]/g, '');
  if (letters.length !== 2 * GROUP || [...letters].some((letter) => !ALPHABET.includes(letter))) return null;
  return `${letters.slice(0, GROUP)}-${letters.slice(GROUP)}`;
}
