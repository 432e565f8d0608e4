/** An OpenID provider, opened from the operator's options: authorization code with PKCE, and its logout tokens. */
import { readFileSync, type Stats, statSync } from 'node:fs';
import * as openid from 'openid-client';
import type { Clock, IdentityProvider, Log } from '../control/ports/index.ts';
import type { IdentityClaims, IdentityProviderLogout, SignInProof } from '../model/access/identity.ts';
import type { IdentityOptions } from '../model/access/identity-options.ts';
import { SandhavenError } from '../model/errors.ts';
import { lacksClaims, parseClaims, readLogoutToken } from './claims.ts';
import { Discovery, withoutSlash } from './discovery.ts';
import { explained, invalid } from './failures.ts';

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

const FLAG = '--oidc-client-secret-file';

/**
 * Opens the identity provider with its secret read from a file. Asks the provider nothing yet. Throws `failed_precondition` for a secret that is unreadable or readable by others.
 */
export function openIdentityProvider(options: IdentityOptions, clock: Clock, log: Log): IdentityProvider {
  return createOpenIdProvider({ options, clientSecret: readSecret(options.clientSecretFile), clock, log });
}

function readSecret(file: string): string {
  let secret = '';
  try {
    const stat = statSync(file);
    if (!isPrivate(stat)) throw readable(file);
    if (stat.size <= 4_096) secret = readFileSync(file, 'utf8').trim();
  } catch (cause) {
    if (cause instanceof SandhavenError) throw cause;
    throw unreadable(file, cause);
  }
  if (secret === '') throw unreadable(file, null);
  return secret;
}

/**
 * Returns true where no other user reads the file. A Secret that Kubernetes mounts is root's, and its group's to read: the
 * service, which is not root there, has no other way to it.
 */
function isPrivate({ mode, uid, gid }: Stats): boolean {
  const own = process.geteuid?.() ?? 0;
  const byGroup = own !== 0 && uid === 0 && process.getgroups?.().includes(gid);
  return (mode & (byGroup ? 0o037 : 0o077)) === 0;
}

function unreadable(file: string, cause: unknown): SandhavenError {
  const fields = { parameter: FLAG, hint: `Check ${file}: it holds the client secret, and nothing else.` };
  return new SandhavenError(
    'failed_precondition',
    `The file of ${FLAG} has no secret to read.`,
    fields,
    cause,
  );
}

function readable(file: string): SandhavenError {
  return new SandhavenError('failed_precondition', `The file of ${FLAG} can be read by other users.`, {
    parameter: FLAG,
    hint: `Run: chmod 600 ${file}`,
  });
}
