/**
 * Verifies a logout token.
 *
 * Source: OpenID Connect Back-Channel Logout 1.0, section 2.6.
 */
import { jwtVerify } from 'jose';
import { z } from 'zod';
import type { ProviderLogout } from '../model/access/identity.ts';
import { invalidArgument, type SandhavenError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Discovered } from './discovery.ts';
import { causeOf } from './failures.ts';

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

/** Rejects with `invalid_argument` for a token that does not count, with `unavailable` without the provider's keys. */
export async function readLogoutToken(
  token: string,
  { config, keys, algorithms }: Discovered,
  { clientId, issuer }: { clientId: string; issuer: string },
): Promise<ProviderLogout> {
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
