/** DeleteUser: deletes a user with all that they own; without `yes` it shows what would go. */
import { z } from 'zod';
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
    'deleted, and the answer shows what would go. Nobody deletes themselves.',
  role: 'admin',
  command: 'users delete',
  argument: 'user',
  input: z.strictObject({
    user,
    yes: z.boolean().default(false).describe('true: delete. Otherwise only show what would go.'),
  }),
  output: z.looseObject({
    user_id: z.string(),
    name: z.string(),
    email: z.string(),
    deleted: z.boolean(),
    sandboxes: count,
    snapshots: count,
    secrets: count,
    webhooks: count,
    keys: count,
    teams: count.describe('Teams that the user is in; they stay.'),
  }),
  async handler({ user, yes }, { services, caller }) {
    const { userDeletions } = services;
    const shown = yes ? await userDeletions.delete(caller, user) : await userDeletions.shown(caller, user);
    const { id, name, email } = shown.user;
    return { user_id: id, name, email, deleted: yes, ...shown.owned };
  },
});
