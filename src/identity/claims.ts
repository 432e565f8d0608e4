/**
 * Claims about a person, parsed with bounds: the ID token's, and those of the userinfo endpoint for what it lacks;
 * those of logout tokens.
 */
import { jwtVerify } from 'jose';
import { z } from 'zod';
import type { IdentityClaims, IdentityProviderLogout } from '../model/access/identity.ts';
import { invalidArgument, type SandhavenError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Discovered } from './discovery.ts';
import { causeOf, invalid } from './failures.ts';

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

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** Types that older providers leave out or write generally. */
const TYPES = [undefined, 'logout+jwt', 'application/logout+jwt', 'jwt'];

const payload = z
  .looseObject({
    jti: z.string().min(1).max(512),
    iat: z.number(),
    sub: z.string().min(1).max(limits.identity.subjectChars).optional(),
    sid: z.string().min(1).max(limits.identity.sidChars).optional(),
    events: z.looseObject({ [EVENT]: z.looseObject({}) }),
    // A token with a nonce is an ID token.
    nonce: z.undefined().optional(),
  })
  .refine(({ sub, sid }) => sub !== undefined || sid !== undefined);

/**
 * Verifies a logout token.
 *
 * Source: OpenID Connect Back-Channel Logout 1.0, section 2.6.
 * Rejects with `invalid_argument` for a token that does not count, with `unavailable` without the provider's keys.
 */
export async function readLogoutToken(
  token: string,
  { config, keys, algorithms }: Discovered,
  { clientId, issuer }: { clientId: string; issuer: string },
): Promise<IdentityProviderLogout> {
  const { logoutMs, skewSeconds } = limits.identity;
  const verified = await jwtVerify(token, keys, {
    issuer: config.serverMetadata().issuer,
    audience: clientId,
    algorithms,
    clockTolerance: skewSeconds,
    maxTokenAge: logoutMs / 1_000,
    requiredClaims: ['exp', 'iat', 'jti', 'events'],
  }).catch((error: unknown) => {
    throw causeOf(error) ?? wrong();
  });
  const parsed = payload.safeParse(verified.payload);
  if (!parsed.success || !TYPES.includes(verified.protectedHeader.typ?.toLowerCase())) throw wrong();
  const { jti, iat, sub, sid } = parsed.data;
  return {
    ...{ issuer, subject: sub ?? null, sid: sid ?? null, tokenId: jti },
    expiresAt: iat * 1_000 + logoutMs + 2 * skewSeconds * 1_000,
  };
}

function wrong(): SandhavenError {
  return invalidArgument(
    'logout_token',
    'The logout token is not valid.',
    'The identity provider sends one that it has signed for this service, within five minutes.',
  );
}
