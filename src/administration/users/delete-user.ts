/** DeleteUser: deletes a user with all that they own; without `yes` it shows what would go. */
import { z } from 'zod';
import { text } from '../../catalog/parameters/text.ts';
import { limits } from '../../model/limits.ts';
import { defineAction } from '../action.ts';
import { user } from './parameters.ts';

/** Numbers of what goes with the user. */
const count = z.int();

export const deleteUser = defineAction({
  name: 'DeleteUser',
  title: 'Delete a user',
  description:
    'Deletes a user for good, with their sandboxes and disks, snapshots, secrets, webhooks, keys, passkeys, identities, ' +
    'authorizations and places in teams. Teams, and what these own, stay; so do rows of the audit log. Without yes nothing is ' +
    'deleted, and the answer shows what would go. Nobody deletes themselves. With `to`, sandboxes and snapshots go to another ' +
    'user or a team instead, where admins may read inside; what opens them, and secrets, do not.',
  role: 'admin',
  command: 'users delete',
  argument: 'user',
  input: z.strictObject({
    user,
    to: text()
      .min(1)
      .max(limits.userEmailChars)
      .optional()
      .describe('User ID or email, or team ID or name, that gets the sandboxes and snapshots.'),
    yes: z.boolean().default(false).describe('true: delete. Otherwise only show what would go.'),
  }),
  output: z.looseObject({
    user_id: z.string(),
    name: z.string(),
    email: z.string(),
    deleted: z.boolean(),
    to: z.string().nullable().describe('ID of who gets sandboxes and snapshots; null: they are deleted.'),
    sandboxes: count,
    snapshots: count,
    secrets: count,
    webhooks: count,
    keys: count,
    teams: count.describe('Teams that the user is in; they stay.'),
  }),
  async handler({ user, to, yes }, { services, caller }) {
    const { userDeletions } = services;
    const shown = await (yes
      ? userDeletions.delete(caller, user, to)
      : userDeletions.shown(caller, user, to));
    const { id, name, email } = shown.user;
    return { user_id: id, name, email, deleted: yes, to: shown.heir?.id ?? null, ...shown.owned };
  },
});
