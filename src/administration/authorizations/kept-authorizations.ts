/** ListAuthorizations and RevokeAuthorization: the caller's authorizations at the code-hosting provider. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { account, providerOf, timeOf } from './parts.ts';

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
