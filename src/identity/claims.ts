/** Claims about a person, parsed with bounds: the ID token's, and those of the userinfo endpoint for what it lacks. */
import { z } from 'zod';
import type { IdentityClaims } from '../model/access/identity.ts';
import { limits } from '../model/limits.ts';
import { invalid } from './failures.ts';

const { subjectChars, sidChars, groups: mostGroups, groupChars } = limits.identity;

const named = z.object({
  sub: z
    .string()
    .min(1)
    .max(subjectChars)
    .regex(/^[^\p{C}]+$/u),
  sid: z.string().min(1).max(sidChars).optional(),
});
const email = z
  .string()
  .max(limits.userEmailChars)
  .regex(/^[!-?A-~]+@[!-?A-~]+$/);
/** Returns true where only the userinfo endpoint can have what is needed. */
export function lacksClaims(idToken: object, groupsClaim: string, needsGroups: boolean): boolean {
  const given = idToken as Record<string, unknown>;
  return given['email'] === undefined || (needsGroups && given[groupsClaim] === undefined);
}

/** Throws `unauthenticated` for an ID token without a usable subject; leaves out other claims that are not usable. */
export function parseClaims(
  issuer: string,
  idToken: object,
  userInfo: object,
  groupsClaim: string,
): IdentityClaims {
  const known = named.safeParse(idToken);
  if (!known.success) throw invalid();
  const first = idToken as Record<string, unknown>;
  const both = { ...(userInfo as Record<string, unknown>), ...first };
  // The address and its confirmation come from one place.
  const mail = first['email'] === undefined ? (userInfo as Record<string, unknown>) : first;
  const confirmed = mail['email_verified'];
  return {
    issuer,
    subject: known.data.sub,
    sid: known.data.sid ?? null,
    name: nameIn(both['name']) ?? nameIn(both['preferred_username']),
    email: email.safeParse(mail['email']).data ?? null,
    // Some providers send a text.
    emailVerified: confirmed === undefined ? null : confirmed === true || confirmed === 'true',
    groups: groupsIn(both[groupsClaim]),
  };
}

/** Some providers send a text for one group. A single one that is not usable is left out. */
function groupsIn(value: unknown): string[] | null {
  const all: unknown[] | null = Array.isArray(value) ? value : typeof value === 'string' ? [value] : null;
  if (all === null || all.length > mostGroups) return null;
  return all.filter((one): one is string => typeof one === 'string' && one.length <= groupChars);
}

function nameIn(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value.replaceAll(/\p{C}+/gu, ' ').trim();
  return [...text].slice(0, limits.userNameChars).join('') || null;
}
