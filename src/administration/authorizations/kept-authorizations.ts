/** ListAuthorizations and RevokeAuthorization: what the caller has allowed at the code-hosting provider. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { account, providerOf, timeOf } from './parts.ts';

const authorization = z.looseObject({
  /** Its base URL. */
  provider: z.string(),
  account,
  scopes: z.array(z.string()),
  created_at: z.string(),
  /** When the tokens were renewed last. */
  renewed_at: z.string(),
});

export const listAuthorizations = defineAction({
  name: 'ListAuthorizations',
  title: 'List what you have authorized',
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
  title: 'Take your authorization back',
  description: 'Forgets your tokens of the code-hosting provider, and asks it to end them.',
  role: 'member',
  command: 'auth revoke',
  input: z.strictObject({}),
  output: z.looseObject({ account, revoked: z.literal(true), revoked_at_provider: z.boolean() }),
  async handler(_parameters, { services, caller }) {
    const { account, atProvider } = await providerOf(services).revoke(caller);
    return { account: { ...account }, revoked: true as const, revoked_at_provider: atProvider };
  },
});
