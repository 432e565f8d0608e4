/**
 * The provider's description of itself: asked for at the first sign-in, kept, and refreshed. While a refresh fails, the
 * kept one serves; a provider that has never answered is left alone for a moment, so that clicks do not wait in a row.
 */
import { createRemoteJWKSet, type JWTVerifyGetKey, customFetch as keyFetch } from 'jose';
import * as openid from 'openid-client';
import type { Clock, Log } from '../control/ports/index.ts';
import { type IdentityOptions, isOnThisMachine } from '../model/access/identity-options.ts';
import { SandhavenError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { exchange, toOperators } from '../outbound/request.ts';
import { causeOf } from './failures.ts';

export interface Discovered {
  config: openid.Configuration;
  /** Keys that the provider signs with. */
  keys: JWTVerifyGetKey;
  /** Signatures that count, all of them with a public key. */
  algorithms: string[];
}

export interface DiscoveryParts {
  options: Pick<IdentityOptions, 'issuer' | 'clientId'>;
  clientSecret: string;
  clock: Clock;
  log: Pick<Log, 'warn'>;
}

const SIGNATURES = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

export class Discovery {
  readonly #parts: DiscoveryParts;
  #known: (Discovered & { at: number }) | null = null;
  #failed: { error: SandhavenError; until: number } | null = null;
  #asking: Promise<Discovered> | null = null;

  constructor(parts: DiscoveryParts) {
    this.#parts = parts;
  }

  /** Rejects with `unavailable`, or with `failed_precondition` for a provider that is not the configured one. */
  async current(): Promise<Discovered> {
    const now = this.#parts.clock.now();
    const age = this.#known ? now - this.#known.at : Number.POSITIVE_INFINITY;
    if (this.#known && age < limits.identity.refreshMs) return this.#known;
    const kept = age < limits.identity.keptMs ? this.#known : null;
    if (this.#failed && now < this.#failed.until) {
      if (kept) return kept;
      throw this.#failed.error;
    }
    try {
      this.#asking ??= this.#ask().finally(() => {
        this.#asking = null;
      });
      return await this.#asking;
    } catch (error) {
      if (kept) return kept;
      throw error;
    }
  }

  async #ask(): Promise<Discovered> {
    const { clock, log } = this.#parts;
    try {
      const discovered = await discover(this.#parts);
      this.#known = { ...discovered, at: clock.now() };
      this.#failed = null;
      return discovered;
    } catch (cause) {
      const error = causeOf(cause) ?? notAProvider(cause);
      this.#failed = { error, until: clock.now() + limits.identity.pauseMs };
      log.warn('the identity provider cannot be used; other ways of signing in work', {
        reason: error.message,
      });
      throw error;
    }
  }
}

async function discover({ options, clientSecret }: DiscoveryParts): Promise<Discovered> {
  const isLocal = isOnThisMachine(options.issuer);
  const metadata = { client_secret: clientSecret, [openid.clockTolerance]: limits.identity.skewSeconds };
  const config = await openid.discovery(new URL(options.issuer), options.clientId, metadata, authenticate, {
    [openid.customFetch]: boundedFetch,
    // The signature of an ID token counts, also of one that came over TLS.
    execute: [openid.enableNonRepudiationChecks, ...(isLocal ? [openid.allowInsecureRequests] : [])],
    timeout: limits.identity.requestMs / 1_000,
  });
  const { issuer, jwks_uri: keysAt, id_token_signing_alg_values_supported: named } = config.serverMetadata();
  // Also refuses descriptions for many tenants, whose issuer is a pattern.
  if (withoutSlash(issuer) !== withoutSlash(options.issuer)) throw anotherIssuer();
  const url = keysAt === undefined ? null : URL.parse(keysAt);
  if (!url || (url.protocol !== 'https:' && !isLocal)) throw notAProvider(null);
  return {
    config,
    keys: createRemoteJWKSet(url, { [keyFetch]: boundedFetch, timeoutDuration: limits.identity.requestMs }),
    algorithms: (named ?? ['RS256']).filter((name) => SIGNATURES.includes(name)),
  };
}

export function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

/** Sends the secret in the header where the provider takes it there, as the standard has it, else in the body. */
const authenticate: openid.ClientAuth = (server, client, body, headers) => {
  const secret = String(client['client_secret']);
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const method = methods.includes('client_secret_basic') ? openid.ClientSecretBasic : openid.ClientSecretPost;
  method(secret)(server, client, body, headers);
};

function anotherIssuer(): SandhavenError {
  return new SandhavenError(
    'failed_precondition',
    'The identity provider names another issuer than --oidc-issuer.',
    {
      hint: 'The operator gives the issuer exactly as the provider names it; for Entra that of the one tenant.',
    },
  );
}

function notAProvider(cause: unknown): SandhavenError {
  return new SandhavenError(
    'unavailable',
    'The answer below --oidc-issuer is not that of an OpenID provider.',
    { hint: 'The operator checks --oidc-issuer. Keys and one-time links work meanwhile.' },
    cause,
  );
}

/**
 * Requests to the identity provider: within a time and a size, without following a redirect. Libraries call it in
 * place of `fetch`.
 */
interface BoundedRequest {
  method?: string;
  headers?: NonNullable<RequestInit['headers']>;
  body?: RequestInit['body'] | undefined;
  signal?: AbortSignal | null | undefined;
}

type BoundedFetch = (url: string, request: BoundedRequest) => Promise<Response>;

const bound = { bytes: limits.identity.answerBytes, tooLong: tooLarge };

/** Rejects with `unavailable` without an answer in time, and for one that is too large. */
const boundedFetch: BoundedFetch = async (url, { method = 'GET', headers, body, signal }) => {
  const own = AbortSignal.timeout(limits.identity.requestMs);
  const within = signal ? AbortSignal.any([own, signal]) : own;
  try {
    // Turns the kinds of bodies that a library may give into bytes, with their type where it names none.
    const given = new Response(body ?? null, { headers: headers ?? {} });
    const bytes = body ? Buffer.from(await given.arrayBuffer()) : null;
    const request = { method, headers: Object.fromEntries(given.headers), body: bytes, signal: within };
    return await exchange(new URL(url), { way: toOperators, ...request }, bound);
  } catch (error) {
    if (error instanceof SandhavenError) throw error;
    throw silent(error);
  }
};

function silent(cause: unknown): SandhavenError {
  return new SandhavenError(
    'unavailable',
    'The identity provider does not answer.',
    { hint: 'Try again in a minute. Keys and one-time links work meanwhile.' },
    cause,
  );
}

function tooLarge(): SandhavenError {
  return new SandhavenError('unavailable', 'The answer of the identity provider is too large.', {
    hint: 'The operator checks --oidc-issuer. Keys and one-time links work meanwhile.',
  });
}
