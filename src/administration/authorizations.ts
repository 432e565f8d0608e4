/** Actions on authorizations at the code-hosting provider. */
import { z } from 'zod';
import type { AuthorizationService } from '../control/provider/authorizations.ts';
import type { Services } from '../control/services.ts';
import { SandhavenError } from '../model/errors.ts';
import { providerNames } from '../model/provider.ts';
import { defineAction } from './action.ts';

const clientIds = providerNames.map((name) => `--${name}-client-id`).join(' or ');

/** Throws `failed_precondition` without a configured provider. */
export function providerOf({ authorizations }: Pick<Services, 'authorizations'>): AuthorizationService {
  if (authorizations) return authorizations;
  throw noProvider();
}

export function noProvider(): SandhavenError {
  return new SandhavenError('failed_precondition', 'This service has no code-hosting provider.', {
    hint: `The operator configures one with ${clientIds} and its secret: see docs/providers.md.`,
  });
}

export const account = z.looseObject({ id: z.string(), login: z.string() });

export const seconds = (ms: number) => Math.ceil(ms / 1_000);
export const timeOf = (ms: number) => new Date(ms).toISOString();

const authorization = z.looseObject({
  /** Base URL of the provider. */
  provider: z.string(),
  account,
  scopes: z.array(z.string()),
  created_at: z.string(),
  /** Time of the last renewal of the tokens. */
  renewed_at: z.string(),
});

export const listAuthorizations = defineAction({
  name: 'ListAuthorizations',
  title: 'List your authorizations',
  description: 'Your authorizations at code-hosting providers, never their tokens.',
  role: 'member',
  command: 'auth list',
  input: z.strictObject({}),
  output: z.looseObject({ authorizations: z.array(authorization) }),
  async handler(_parameters, { services, caller }) {
    const kept = await providerOf(services).list(caller);
    return {
      authorizations: kept.map(({ provider, account, tokens, createdAt, updatedAt }) => ({
        ...{ provider, account: { ...account }, scopes: tokens.scopes },
        ...{ created_at: timeOf(createdAt), renewed_at: timeOf(updatedAt) },
      })),
    };
  },
  rows: ({ authorizations }) =>
    authorizations.map(({ provider, account: { login }, scopes, created_at, renewed_at }) => ({
      ...{ provider, account: login, scopes: scopes.join(' '), authorized: created_at, renewed: renewed_at },
    })),
});

export const revokeAuthorization = defineAction({
  name: 'RevokeAuthorization',
  title: 'Revoke your authorization',
  description:
    'Deletes your tokens of the code-hosting provider, and asks it to revoke them. No request of a sandbox carries them when ' +
    'the call ends. unavailable: they are deleted, and still in force in a sandbox that could not be reached.',
  role: 'member',
  command: 'auth revoke',
  input: z.strictObject({}),
  output: z.looseObject({ account, revoked: z.literal(true), revoked_at_provider: z.boolean() }),
  async handler(_parameters, { services, caller }) {
    const { account, atProvider } = await providerOf(services).revoke(caller);
    return { account: { ...account }, revoked: true as const, revoked_at_provider: atProvider };
  },
});

export const pollAuthorization = defineAction({
  name: 'PollAuthorization',
  title: 'Poll an authorization',
  description:
    'Returns the status of one of your authorizations. Wait interval_seconds before polling again.',
  role: 'member',
  command: 'auth poll',
  argument: 'authorization_id',
  input: z.strictObject({
    authorization_id: z
      .string()
      .regex(/^auth_[0-9a-z]{16}$/, 'must be what StartAuthorization gave')
      .describe('From StartAuthorization.'),
  }),
  output: z.looseObject({
    status: z.enum(['pending', 'authorized', 'denied', 'expired']),
    account: account.nullable(),
    reason: z.string().nullable(),
    interval_seconds: z.int().nullable(),
  }),
  async handler({ authorization_id: id }, { services, caller }) {
    const progress = await providerOf(services).poll(caller, id);
    return {
      status: progress.status,
      account: progress.status === 'authorized' ? { ...progress.account } : null,
      reason: progress.status === 'denied' ? progress.reason : null,
      interval_seconds: progress.status === 'pending' ? seconds(progress.intervalMs) : null,
    };
  },
});

export const startAuthorization = defineAction({
  name: 'StartAuthorization',
  title: 'Authorize the service at the code-hosting provider',
  description:
    'Returns a code to enter at the provider (device), or a URL to open (browser); then call PollAuthorization. ' +
    'Clone, pull and push use the resulting tokens, and sandboxes that are given a secret of them: CreateProviderSecret.',
  role: 'member',
  command: 'auth start',
  input: z.strictObject({
    method: z.enum(['device', 'browser']).default('device').describe('Device code or browser URL.'),
  }),
  output: z.looseObject({
    authorization_id: z.string(),
    method: z.enum(['device', 'browser']),
    /** Page to open. */
    authorization_url: z.string(),
    /** Code to enter there; only for a device. */
    user_code: z.string().nullable(),
    expires_at: z.string(),
    /** Interval between two polls. */
    interval_seconds: z.int(),
  }),
  async handler({ method }, { services, caller }) {
    const authorizations = providerOf(services);
    if (method === 'browser') {
      const { id, url, expiresAt, intervalMs } = await authorizations.startBrowser(caller);
      return {
        ...{ authorization_id: id, method, authorization_url: url, user_code: null },
        ...{ expires_at: timeOf(expiresAt), interval_seconds: seconds(intervalMs) },
      };
    }
    const { id, verificationUrl, userCode, expiresAt, intervalMs } = await authorizations.startDevice(caller);
    return {
      ...{ authorization_id: id, method, authorization_url: verificationUrl, user_code: userCode },
      ...{ expires_at: timeOf(expiresAt), interval_seconds: seconds(intervalMs) },
    };
  },
});
