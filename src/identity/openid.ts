/** An OpenID provider, opened from the operator's options: authorization code with PKCE, and its logout tokens. */
import * as openid from 'openid-client';
import type { Clock, IdentityProvider, Log } from '../control/ports/index.ts';
import type { IdentityClaims, IdentityProviderLogout, SignInProof } from '../model/access/identity.ts';
import type { IdentityOptions } from '../model/access/identity-options.ts';
import { readSecretFile } from '../outbound/secret-file.ts';
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

/**
 * Opens the identity provider with its secret read from a file. Asks the provider nothing yet. Throws like `readSecretFile`.
 */
export function openIdentityProvider(options: IdentityOptions, clock: Clock, log: Log): IdentityProvider {
  const clientSecret = readSecretFile('--oidc-client-secret-file', options.clientSecretFile);
  return createOpenIdProvider({ options, clientSecret, clock, log });
}
