/** View of a user in actions. */
import { z } from 'zod';
import type { Member } from '../../control/people/users.ts';
import { quotaKinds } from '../../model/quota.ts';
import { roles } from '../../model/user.ts';
import { ownerNetworksOutput, toOwnerNetworksView } from '../networks/owner-network-view.ts';
import { countsOf, toUsageView, usageOutput } from './usage-view.ts';

export const userOutput = z.looseObject({
  user_id: z.string(),
  name: z.string(),
  email: z.string(),
  role: z.enum(roles),
  disabled: z.boolean(),
  created_at: z.string().nullable(),
  usage: usageOutput,
  networks: ownerNetworksOutput,
});

export type UserView = z.output<typeof userOutput>;

export function toUserView({ account, quota, used, networks }: Member): UserView {
  const { id, name, email, role, createdAt, disabledAt } = account;
  return {
    ...{ user_id: id, name, email, role, disabled: disabledAt !== null },
    // The first user of an older service has no date.
    created_at: createdAt === 0 ? null : new Date(createdAt).toISOString(),
    usage: toUsageView(quota, used),
    networks: toOwnerNetworksView(networks),
  };
}

export function userRow({ user_id, name, email, role, disabled, usage }: UserView): Record<string, unknown> {
  const state = disabled ? 'disabled' : 'enabled';
  return { user: user_id, name, email, role, state, ...countsOf(usage, quotaKinds) };
}
