/** View of a user in actions. */
import { z } from 'zod';
import type { Member } from '../../control/people/users.ts';
import { leftOf, type QuotaKind, quotaKinds } from '../../model/quota.ts';
import { roles } from '../../model/user.ts';

/** null: without a limit. */
const used = z.looseObject({ used: z.int(), limit: z.int().nullable(), left: z.int().nullable() });

export const userOutput = z.looseObject({
  user_id: z.string(),
  name: z.string(),
  email: z.string(),
  role: z.enum(roles),
  disabled: z.boolean(),
  created_at: z.string().nullable(),
  /** Sandboxes and disk count all of them; cpu and memory those that run. Memory and disk in GB. */
  usage: z.looseObject({ sandboxes: used, cpu: used, memory: used, disk: used, snapshots: used }),
});

export type UserView = z.output<typeof userOutput>;

export function toUserView(member: Member): UserView {
  const { id, name, email, role, createdAt, disabledAt } = member.account;
  const usage = Object.fromEntries(quotaKinds.map((kind) => [kind, usageOf(member, kind)]));
  return {
    ...{ user_id: id, name, email, role, disabled: disabledAt !== null },
    // The first user of an older service has no date.
    created_at: createdAt === 0 ? null : new Date(createdAt).toISOString(),
    usage: usage as UserView['usage'],
  };
}

export function userRow({ user_id, name, email, role, disabled, usage }: UserView): Record<string, unknown> {
  const counts = quotaKinds.map((kind) => {
    const { used, limit } = usage[kind];
    return [kind, limit === null ? `${used}` : `${used}/${limit}`];
  });
  const state = disabled ? 'disabled' : 'enabled';
  return { user: user_id, name, email, role, state, ...Object.fromEntries(counts) };
}

function usageOf({ quota, used }: Member, kind: QuotaKind): UserView['usage'][QuotaKind] {
  return { used: used[kind], limit: quota[kind], left: leftOf(quota, used)[kind] };
}
