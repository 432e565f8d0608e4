/** Actions on users. */
import { z } from 'zod';
import { withoutUndefined } from '../catalog/base/tool.ts';
import { pageOf, pageOutput, pageParameters } from '../catalog/parameters/pagination.ts';
import { text } from '../catalog/parameters/scalars.ts';
import type { Member } from '../control/people/users.ts';
import { invalidArgument } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { quotaKinds } from '../model/quota.ts';
import { roles } from '../model/user.ts';
import { defineAction } from './action.ts';
import {
  countsOf,
  email,
  name,
  ownerNetworksOutput,
  quotaParameters,
  role,
  toOwnerNetworksView,
  toQuota,
  toUsageView,
  usageOutput,
  user,
} from './owners.ts';

const userOutput = z.looseObject({
  user_id: z.string(),
  name: z.string(),
  email: z.string(),
  role: z.enum(roles),
  disabled: z.boolean(),
  created_at: z.string().nullable(),
  usage: usageOutput,
  networks: ownerNetworksOutput,
});

type UserView = z.output<typeof userOutput>;

function toUserView({ account, quota, used, networks }: Member): UserView {
  const { id, name, email, role, createdAt, disabledAt } = account;
  return {
    ...{ user_id: id, name, email, role, disabled: disabledAt !== null },
    // The first user of an older service has no date.
    created_at: createdAt === 0 ? null : new Date(createdAt).toISOString(),
    usage: toUsageView(quota, used),
    networks: toOwnerNetworksView(networks),
  };
}

function userRow({ user_id, name, email, role, disabled, usage }: UserView): Record<string, unknown> {
  const state = disabled ? 'disabled' : 'enabled';
  return { user: user_id, name, email, role, state, ...countsOf(usage, quotaKinds) };
}

export const createUser = defineAction({
  name: 'CreateUser',
  title: 'Create a user',
  description: 'Creates a user without a key: CreateKey creates one.',
  role: 'admin',
  command: 'users create',
  input: z.strictObject({ name, email, role: role.default('member'), ...quotaParameters }),
  output: userOutput,
  async handler({ name, email, role, ...quota }, { services }) {
    return toUserView(await services.users.create({ name, email, role, quota: toQuota(quota) }));
  },
  rows: (user) => [userRow(user)],
});

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

export const disableUser = defineAction({
  name: 'DisableUser',
  title: 'Disable a user',
  description:
    "Disables a user's keys, and ends their calls in progress, SSH connections, tunnels and previews. " +
    'The sandboxes stay as they are. The last enabled admin cannot be disabled.',
  role: 'admin',
  command: 'users disable',
  argument: 'user',
  input: z.strictObject({ user }),
  output: userOutput,
  async handler({ user }, { services }) {
    return toUserView(await services.users.disable(user));
  },
  rows: (user) => [userRow(user)],
});

export const enableUser = defineAction({
  name: 'EnableUser',
  title: 'Enable a user',
  description: 'Enables a disabled user again, with their earlier keys.',
  role: 'admin',
  command: 'users enable',
  argument: 'user',
  input: z.strictObject({ user }),
  output: userOutput,
  async handler({ user }, { services }) {
    return toUserView(await services.users.enable(user));
  },
  rows: (user) => [userRow(user)],
});

export const listUsers = defineAction({
  name: 'ListUsers',
  title: 'List users',
  description:
    'Lists the users of the service with their usage and quota; for a member, only themselves. Sandboxes and disk ' +
    'are those of all sandboxes, cpu and memory those of sandboxes that run.',
  role: 'member',
  command: 'users list',
  input: z.strictObject({ ...pageParameters }),
  output: z.looseObject({ users: z.array(userOutput), ...pageOutput }),
  async handler(parameters, { services, caller }) {
    const { page, page_size: pageSize } = parameters;
    const { users, totalCount } = await services.users.list(caller, { page, pageSize });
    return { users: users.map(toUserView), ...pageOf(totalCount, parameters) };
  },
  rows: ({ users }) => users.map(userRow),
});

export const updateUser = defineAction({
  name: 'UpdateUser',
  title: 'Update a user',
  description:
    'Changes the given fields of a user. A quota below the present use removes nothing: it refuses more. The last ' +
    'enabled admin stays one.',
  role: 'admin',
  command: 'users update',
  argument: 'user',
  input: z.strictObject({
    user,
    name: name.optional(),
    email: email.optional(),
    role: role.optional(),
    ...quotaParameters,
    default_quota: z
      .boolean()
      .default(false)
      .describe("Returns to the service's default quota, except for the kinds given here."),
  }),
  output: userOutput,
  async handler({ user, name, email, role, default_quota, ...given }, { services }) {
    const change = withoutUndefined({ name, email, role });
    const quota = toQuota(given);
    if (Object.keys({ ...change, ...quota }).length === 0 && !default_quota) {
      throw invalidArgument(
        'name',
        'Nothing to change: only the user was given.',
        'Give at least one field to change.',
      );
    }
    return toUserView(await services.users.update(user, { ...change, quota, defaultQuota: default_quota }));
  },
  rows: (user) => [userRow(user)],
});
