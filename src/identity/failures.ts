/** Failures of the libraries as errors for people. No text of the provider is passed on, nor logged. */
import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import type { Log } from '../control/ports/index.ts';
import { SandhavenError } from '../model/errors.ts';

/** Refusals of one code or token, which another sign-in may not meet. */
const OF_ONE_SIGN_IN = ['invalid_grant', 'invalid_token'];

/** Returns the error of a sign-in that failed, and logs the ones that an operator can correct. */
export function explained(error: unknown, log: Pick<Log, 'warn'>): SandhavenError {
  const own = causeOf(error);
  if (own) return own;
  if (error instanceof AuthorizationResponseError) return refused();
  const word = wordOf(error);
  if (word !== null) {
    log.warn('the identity provider refuses the code of a sign-in', { word });
    return OF_ONE_SIGN_IN.includes(word) ? invalid() : misconfigured();
  }
  const code = error instanceof ClientError ? (error.code ?? null) : null;
  log.warn('an answer of the identity provider is not valid', { code });
  return invalid();
}

/**
 * Returns one of RFC 6749's words, from the body or from a challenge: a provider that takes the secret in a header challenges
 * whoever has a wrong one. null: the provider has refused nothing.
 */
function wordOf(error: unknown): string | null {
  let said: string | undefined;
  if (error instanceof ResponseBodyError) said = error.error;
  else if (error instanceof WWWAuthenticateChallengeError)
    said = error.cause.find(({ parameters }) => parameters.error !== undefined)?.parameters.error;
  else return null;
  return said !== undefined && /^[a-z_]{1,60}$/.test(said) ? said : 'another error';
}

/** Returns the error that our own part of a request has thrown, however deep the library has put it. */
export function causeOf(error: unknown): SandhavenError | null {
  let found: unknown = error;
  for (let depth = 0; depth < 5 && found instanceof Error; depth++) {
    if (found instanceof SandhavenError) return found;
    found = found.cause;
  }
  return null;
}

export function invalid(): SandhavenError {
  return new SandhavenError('unauthenticated', 'The answer of the identity provider is not valid.', {
    hint: 'Sign in again from the page. The log of the service has the reason, for its operator.',
  });
}

function refused(): SandhavenError {
  return new SandhavenError('permission_denied', 'The identity provider did not sign you in.', {
    hint: 'Sign in again, or ask the administrator of the identity provider for access to this service.',
  });
}

function misconfigured(): SandhavenError {
  return new SandhavenError('failed_precondition', 'The identity provider refuses this service.', {
    hint: 'The operator checks --oidc-client-id, the client secret and the redirect URI: docs/sign-in.md.',
  });
}
