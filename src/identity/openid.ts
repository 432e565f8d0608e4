/** An OpenID provider, opened from the operator's options: authorization code with PKCE, and its logout tokens. */
import { jwtVerify } from 'jose';
import * as openid from 'openid-client';
import { z } from 'zod';
import type { Clock, IdentityProvider, Log } from '../control/ports/index.ts';
import type { IdentityClaims, IdentityProviderLogout, SignInProof } from '../model/access/identity.ts';
import type { IdentityOptions } from '../model/access/identity-options.ts';
import { invalidArgument, type SandhavenError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { readSecretFile } from '../outbound/secret-file.ts';
import { type Discovered, Discovery, withoutSlash } from './discovery.ts';
import { causeOf, explained, invalid } from './failures.ts';

export interface OpenIdParts {
  options: IdentityOptions;
  clientSecret: string;
  clock: Clock;
  log: Log;
}

function createOpenIdProvider({ options, clientSecret, clock, log }: OpenIdParts): IdentityProvider {
  const { clientId, scopes, groupsClaim, rules, name } = options;
  const issuer = withoutSlash(options.issuer);
  const discovery = new Discovery({ options, clientSecret, clock, log });
  const needsGroups = rules.adminGroups.length > 0 || rules.memberGroups.length > 0;

  return {
    issuer,
    name,

    async begin(redirectUri: string, { state, nonce, verifier }: SignInProof): Promise<string> {
      const { config } = await discovery.current();
      try {
        return openid.buildAuthorizationUrl(config, {
          ...{ redirect_uri: redirectUri, scope: scopes.join(' '), state, nonce },
          code_challenge: await openid.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
        }).href;
      } catch (error) {
        throw explained(error, log);
      }
    },

    async finish(returned: URL, { state, nonce, verifier }: SignInProof): Promise<IdentityClaims> {
      const { config } = await discovery.current();
      try {
        const tokens = await openid.authorizationCodeGrant(config, returned, {
          ...{ expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier },
          idTokenExpected: true,
        });
        const idToken = tokens.claims();
        // Tokens for another party may name this service as one of their audiences.
        if (!idToken || (idToken.azp !== undefined && idToken.azp !== clientId)) throw invalid();
        const hasMore = config.serverMetadata().userinfo_endpoint !== undefined;
        const userInfo =
          hasMore && lacksClaims(idToken, groupsClaim, needsGroups)
            ? await openid.fetchUserInfo(config, tokens.access_token, idToken.sub)
            : {};
        return parseClaims(issuer, idToken, userInfo, groupsClaim);
      } catch (error) {
        throw explained(error, log);
      }
    },

    async readLogout(token: string): Promise<IdentityProviderLogout> {
      return readLogoutToken(token, await discovery.current(), { clientId, issuer });
    },
  };
}

/**
 * Opens the identity provider with its secret read from a file. Asks the provider nothing yet. Throws like `readSecretFile`.
 */
export function openIdentityProvider(options: IdentityOptions, clock: Clock, log: Log): IdentityProvider {
  const clientSecret = readSecretFile('--oidc-client-secret-file', options.clientSecretFile);
  return createOpenIdProvider({ options, clientSecret, clock, log });
}

// Claims about a person, parsed with bounds: the ID token's, and those of the userinfo endpoint for what it lacks;
// those of logout tokens.

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
