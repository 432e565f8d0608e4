/**
 * The authorization server of one issuer: the library, held to what MCP needs. Public clients, the authorization code with
 * PKCE, refresh tokens that are replaced at each use, and opaque tokens for one resource.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import Provider, {
  type Configuration,
  errors,
  interactionPolicy,
  type KoaContextWithOIDC,
} from 'oidc-provider';
import type { OAuthRecords } from '../../../control/people/oauth-records.ts';
import type { Log } from '../../../control/ports/index.ts';
import { faultOfRedirectUri, toolScopes } from '../../../model/access/oauth.ts';
import { isDefect, SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { createAdapter } from './adapter.ts';
import type { DocumentFetch } from './client-documents.ts';
import { oauthPaths, publicClient, resourceAt } from './metadata.ts';

export interface AuthorizationServer {
  provider: Provider;
  /** Serves a request whose body is unread. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Finds a client for a person on the page. Rejects with `unavailable` where its document cannot be fetched. */
  findClient(id: string, network: string): Promise<Client | undefined>;
}

type Client = InstanceType<Provider['Client']>;

export interface AuthorizationServerDependencies {
  issuer: string;
  records: OAuthRecords;
  log: Log;
  networkOf(request: IncomingMessage): string;
  /** Fetches the document that describes a client, from a public address only. */
  fetch: DocumentFetch;
  /** Returns true while this network may have such documents fetched. */
  mayFetch(network: string): boolean;
}

export async function createAuthorizationServer(
  parts: AuthorizationServerDependencies,
): Promise<AuthorizationServer> {
  const { issuer, records, log } = parts;
  const cookieKey = await records.secret('oauth cookies', () => randomBytes(32).toString('base64url'));
  const networkOfPage = new AsyncLocalStorage<string>();
  const signingKey = await records.secret('oauth signing key', newSigningKey);
  const provider = new Provider(issuer, {
    ...tokens(issuer, parts),
    ...interactions(records),
    fetch: (url, init) => parts.fetch(url, init, networkOfPage.getStore() ?? networkOf(parts, Provider.ctx)),
    adapter: createAdapter(records, () => networkOf(parts, Provider.ctx)),
    cookies: {
      names: { session: 'sandhaven-oauth', interaction: 'sandhaven-request', resume: 'sandhaven-resume' },
      long: { signed: true, httpOnly: true, sameSite: 'lax' },
      short: { signed: true, httpOnly: true, sameSite: 'lax' },
      keys: [cookieKey],
    },
    // No token is signed; the library asks for a key all the same.
    jwks: { keys: [JSON.parse(signingKey)] },
    routes: {
      authorization: oauthPaths.authorize,
      token: oauthPaths.token,
      revocation: oauthPaths.revoke,
    },
    renderError(ctx, { error, error_description: description = '' }) {
      ctx.type = 'text/plain; charset=utf-8';
      ctx.body = `The application's request is refused (${error}). ${description}\n`;
    },
  });
  // Protocol and host are those that were checked.
  provider.proxy = true;
  const report = (at: { req: IncomingMessage } | undefined, error: Error) => {
    if (isDefect(error, at?.req.socket.destroyed === true))
      log.error('authorization server failed', { error });
  };
  provider.on('server_error', report);
  (provider as EventEmitter).on('error', (error: Error, at?: { req: IncomingMessage }) => report(at, error));
  const findClient = (id: string, network: string) =>
    networkOfPage.run(network, () => provider.Client.find(id)).catch(rethrowUnfetched);
  return { provider, handle: provider.callback(), findClient };
}

/** Throws an error for people in place of the library's, which is for applications. */
function rethrowUnfetched(error: unknown): never {
  if (!(error instanceof errors.OIDCProviderError)) throw error;
  if (error.cause instanceof SandhavenError) throw error.cause;
  const detail = "The application's description cannot be fetched now.";
  const hint = 'Try again in a minute; the application publishes it at its own address.';
  throw new SandhavenError('unavailable', detail, { hint, retryable: true }, error);
}

function tokens(issuer: string, parts: AuthorizationServerDependencies): Configuration {
  const resource = resourceAt(issuer);
  const { accessTokenSeconds, codeSeconds, consentSeconds, grantIdleMs } = limits.oauth;
  const { clientIdChars, documentBytes } = limits.oauth;
  return {
    clientAuthMethods: ['none'],
    clientDefaults: { ...publicClient, id_token_signed_response_alg: 'Ed25519' },
    enabledJWA: { idTokenSigningAlgValues: ['Ed25519'] },
    clientBasedCORS: () => false,
    responseTypes: ['code'],
    scopes: [],
    pkce: { required: () => true },
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    expiresWithSession: async () => false,
    revokeGrantPolicy: () => true,
    ttl: {
      AccessToken: accessTokenSeconds,
      AuthorizationCode: codeSeconds,
      Grant: grantIdleMs / 1_000,
      Interaction: consentSeconds,
      RefreshToken: grantIdleMs / 1_000,
      Session: consentSeconds,
    },
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        getResourceServerInfo(_ctx, wanted) {
          if (wanted !== resource) throw new errors.InvalidTarget();
          const accessTokenTTL = accessTokenSeconds;
          const scope = toolScopes.join(' ');
          return { scope, audience: resource, accessTokenTTL, accessTokenFormat: 'opaque' };
        },
      },
      clientIdMetadataDocument: {
        enabled: true,
        ack: 'draft-02',
        // Without a context it is the page that asks, for a person who is signed in and whose rate is counted.
        allowFetch: (ctx, id) =>
          id.length <= clientIdChars && (ctx === undefined || parts.mayFetch(parts.networkOf(ctx.req))),
        allowClient: (_ctx, { redirectUris }) =>
          (redirectUris ?? []).every((uri) => faultOfRedirectUri(uri) === null),
        cacheDuration: limits.oauth.documentKeptSeconds,
      },
    },
    fetchResponseBodyLimits: { 'client_id metadata document': documentBytes, jwks_uri: documentBytes },
  };
}

/** A person decides about each request anew, on the page; no earlier decision counts for another one. */
function interactions(records: OAuthRecords): Configuration {
  const { Check, Prompt } = interactionPolicy;
  const undecided = new Check('undecided', 'a person has to decide', 'consent_required', ({ oidc }) =>
    oidc.result?.consent === undefined ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT,
  );
  return {
    interactions: {
      policy: [
        new Prompt({ name: 'login', requestable: true }),
        new Prompt({ name: 'consent', requestable: true }, undecided),
      ] as never,
      url: (_ctx, { uid }) => `/authorize/${uid}`,
    },
    async loadExistingGrant({ oidc: { result, provider } }) {
      const id = result?.consent?.grantId;
      return id === undefined ? undefined : provider.Grant.find(id);
    },
    async findAccount(_ctx, accountId) {
      if (!(await records.isEnabled(accountId))) return undefined;
      return { accountId, claims: async () => ({ sub: accountId }) };
    },
  };
}

function networkOf(parts: AuthorizationServerDependencies, ctx: KoaContextWithOIDC | undefined): string {
  return ctx === undefined ? '' : parts.networkOf(ctx.req);
}

function newSigningKey(): string {
  const { privateKey } = generateKeyPairSync('ed25519');
  return JSON.stringify({ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'Ed25519' });
}
