/** Actions on passkeys and passwords. */

import { z } from 'zod';
import { text, textWithoutNul } from '../catalog/parameters/scalars.ts';
import type { Passkey } from '../model/access/passkeys.ts';
import { limits } from '../model/limits.ts';
import { defineAction } from './action.ts';
import { user } from './owners.ts';

export const passkey = textWithoutNul()
  .min(1)
  .max(100)
  .describe('ID of the passkey, as ListPasskeys shows it.');

export const name = text()
  .min(1)
  .max(limits.passkeys.nameChars)
  .regex(/^[^\p{C}]+$/u, 'must not contain control characters')
  .describe('Name for people, such as that of the device.');

/** View of a passkey in actions: nothing that verifies or finds it. */
const passkeyOutput = z.looseObject({
  passkey_id: z.string(),
  user_id: z.string(),
  name: z.string(),
  /** Host name of the page that it opens. */
  works_at: z.string(),
  created_at: z.string(),
  last_used_at: z.string().nullable(),
});

export function toPasskeyView(passkey: Passkey): z.output<typeof passkeyOutput> {
  const { id, userId, name, rpId, createdAt, lastUsedAt } = passkey;
  return {
    ...{ passkey_id: id, user_id: userId, name, works_at: rpId },
    created_at: new Date(createdAt).toISOString(),
    last_used_at: lastUsedAt === null ? null : new Date(lastUsedAt).toISOString(),
  };
}

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

export const removePasskey = defineAction({
  name: 'RemovePasskey',
  title: 'Remove a passkey',
  description:
    'Removes one of your passkeys or, for an admin, any, such as that of a lost device. Browsers that it signed in stay so: RevokeOtherSignIns ends those. Once a user has no passkey, the password signs in, where there is one.',
  role: 'member',
  command: 'passkeys remove',
  argument: 'passkey',
  input: z.strictObject({ passkey }),
  output: passkeyOutput.extend({ removed: z.literal(true) }),
  async handler({ passkey: id }, { services, caller }) {
    const removed = await services.passkeys.remove(caller, id);
    return { ...toPasskeyView(removed), removed: true as const };
  },
});

export const removePassword = defineAction({
  name: 'RemovePassword',
  title: 'Remove a password',
  description: 'Removes your password or, for an admin, another user’s. Browsers that it signed in stay so.',
  role: 'member',
  command: 'passwords remove',
  argument: 'user',
  input: z.strictObject({
    user: user.optional().describe('User ID or email (default: yourself).'),
  }),
  output: z.looseObject({ user_id: z.string(), removed: z.literal(true) }),
  async handler({ user }, { services, caller }) {
    return { user_id: await services.passwords.remove(caller, user), removed: true as const };
  },
});

export const renamePasskey = defineAction({
  name: 'RenamePasskey',
  title: 'Rename a passkey',
  description: 'Gives one of your passkeys another name.',
  role: 'member',
  command: 'passkeys rename',
  argument: 'passkey',
  input: z.strictObject({ passkey, name }),
  output: passkeyOutput,
  async handler({ passkey: id, name }, { services, caller }) {
    return toPasskeyView(await services.passkeys.rename(caller, id, name));
  },
});
