/** ListPasskeys: a user's passkeys, and whether there is a password. */
import { z } from 'zod';
import { defineAction } from '../action.ts';
import { user } from '../users/parameters.ts';
import { passkeyOutput, toPasskeyView } from './passkey-view.ts';

export const listPasskeys = defineAction({
  name: 'ListPasskeys',
  title: 'List passkeys',
  description:
    'Lists your passkeys or, for an admin, another user’s, and shows when the password was set. Nobody can read keys or passwords.',
  role: 'member',
  command: 'passkeys list',
  argument: 'user',
  input: z.strictObject({
    user: user.optional().describe('User ID or email (default: yourself).'),
  }),
  output: z.looseObject({
    passkeys: z.array(passkeyOutput),
    /** null: the user has none. */
    password_changed_at: z.string().nullable(),
  }),
  async handler({ user }, { services, caller }) {
    const found = await services.passkeys.list(caller, user);
    const changedAt = await services.passwords.changedAt(caller, user);
    return {
      passkeys: found.map(toPasskeyView),
      password_changed_at: changedAt === null ? null : new Date(changedAt).toISOString(),
    };
  },
  rows: ({ passkeys }) =>
    passkeys.map(({ passkey_id, name, works_at, created_at, last_used_at }) => ({
      passkey: passkey_id,
      name,
      'works at': works_at,
      created: created_at,
      used: last_used_at,
    })),
});
