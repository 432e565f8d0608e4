/** View of a key in actions: everything but the key itself. */
import { z } from 'zod';
import type { OwnedKey } from '../../control/people/keys.ts';
import { keyStates } from '../../model/user.ts';

/** Admin who made a way in for its user; null: the user did. */
export const makerOutput = z
  .looseObject({
    user_id: z.string(),
    email: z.string().nullable().describe('null: a user who is gone.'),
  })
  .nullable()
  .describe('Admin who made it for the user, and may act as the user with it; null: the user did.');

export const keyOutput = z.looseObject({
  key_id: z.string(),
  name: z.string(),
  user_id: z.string(),
  email: z.string(),
  state: z.enum(keyStates),
  created_at: z.string().nullable(),
  expires_at: z.string().nullable(),
  /** Exact to the minute. */
  last_used_at: z.string().nullable(),
  revoked_at: z.string().nullable(),
  /** null: all that the owner may do. */
  scopes: z.array(z.string()).nullable(),
  /** Team that the key is bound to; null: none. */
  team_id: z.string().nullable(),
  created_by: makerOutput,
});

export type KeyView = z.output<typeof keyOutput>;

export function toKeyView({ key, owner, maker, state }: OwnedKey): KeyView {
  const { id, name, createdAt, expiresAt, lastUsedAt, revokedAt, scopes, teamId } = key;
  return {
    ...{ key_id: id, name, user_id: owner.id, email: owner.email },
    state,
    // Keys from an older service have no date.
    created_at: timeOf(createdAt === 0 ? null : createdAt),
    expires_at: timeOf(expiresAt),
    last_used_at: timeOf(lastUsedAt),
    revoked_at: timeOf(revokedAt),
    scopes: scopes && [...scopes],
    team_id: teamId,
    created_by: maker && { user_id: maker.id, email: maker.email },
  };
}

export function keyRow(view: KeyView): Record<string, unknown> {
  const { key_id, name, email, state, created_at, expires_at, last_used_at, scopes, team_id, created_by } =
    view;
  return {
    key: key_id,
    name,
    user: email,
    state,
    scopes: scopes?.join(',') ?? 'all',
    team: team_id,
    by: created_by && (created_by.email ?? created_by.user_id),
    created: created_at,
    expires: expires_at,
    used: last_used_at,
  };
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
