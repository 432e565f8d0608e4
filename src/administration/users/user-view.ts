/** A user as actions show one. */
import { z } from 'zod';
import { type Account, roles } from '../../model/user.ts';

export const userOutput = z.looseObject({
  user_id: z.string(),
  name: z.string(),
  email: z.string(),
  role: z.enum(roles),
  disabled: z.boolean(),
  created_at: z.string().nullable(),
});

export type UserView = z.output<typeof userOutput>;

export function toUserView({ id, name, email, role, createdAt, disabledAt }: Account): UserView {
  return {
    ...{ user_id: id, name, email, role, disabled: disabledAt !== null },
    // The first user of an older service has no date.
    created_at: createdAt === 0 ? null : new Date(createdAt).toISOString(),
  };
}
