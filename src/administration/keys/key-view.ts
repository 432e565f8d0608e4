/** View of a key in actions: everything but the key itself. */
import { z } from 'zod';
import type { OwnedKey } from '../../control/people/keys.ts';
import { keyStates } from '../../model/user.ts';

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
});

export type KeyView = z.output<typeof keyOutput>;

export function toKeyView({ key, owner, state }: OwnedKey): KeyView {
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
  };
}

export function keyRow(view: KeyView): Record<string, unknown> {
  const { key_id, name, email, state, created_at, expires_at, last_used_at, scopes, team_id } = view;
  return {
    key: key_id,
    name,
    user: email,
    state,
    scopes: scopes?.join(',') ?? 'all',
    team: team_id,
    created: created_at,
    expires: expires_at,
    used: last_used_at,
  };
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
