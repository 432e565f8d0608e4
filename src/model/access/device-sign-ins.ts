/**
 * Sign-ins of machines without a browser of their own: the machine shows a short code, its user enters the code on the page
 * and approves it there, and the machine gets a key.
 *
 * Source: OAuth 2.0 Device Authorization Grant (RFC 8628); codes as in its section 6.1.
 */
import { randomInt } from 'node:crypto';
import type { Scope } from '../scopes.ts';

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
