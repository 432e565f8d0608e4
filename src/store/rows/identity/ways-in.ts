/** Statements about ways in of users, as parts of the works that make or use one. */
import { assertInvitable } from '../../../model/access/ways-in.ts';
import { statement, type Work } from '../../sql/sql.ts';

const statements = {
  // Holds the row until the commit, so of two invitations at once the second one sees the first.
  hold: statement('UPDATE users SET entered_at = entered_at WHERE id = :user'),
  ways: statement(
    `SELECT entered_at,
       (SELECT count(*) FROM api_keys WHERE user_id = :user AND revoked_at IS NULL
          AND (expires_at IS NULL OR expires_at > :now)) AS keys,
       (SELECT count(*) FROM sign_in_links WHERE user_id = :user AND expires_at > :now) AS links,
       (SELECT count(*) FROM identities WHERE user_id = :user) AS identities
     FROM users WHERE id = :user`,
  ),
  entered: statement('SELECT entered_at FROM users WHERE id = :user'),
  enter: statement('UPDATE users SET entered_at = :now WHERE id = :user AND entered_at IS NULL'),
};

/** Throws `permission_denied` for a user who has, or has had, a way in. */
export function* assertFirstWayIn(userId: string, now: number): Work<void> {
  yield* statements.hold.run({ user: userId });
  const row = yield* statements.ways.get({ user: userId, now });
  if (!row) return;
  assertInvitable({
    enteredAt: row['entered_at'] as number | null,
    keys: Number(row['keys']),
    links: Number(row['links']),
    identities: Number(row['identities']),
  });
}

/** Notes that the user comes in, for the first time. */
export function* enter(userId: string, now: number): Work<void> {
  const row = yield* statements.entered.get({ user: userId });
  // A statement that changes nothing would empty the caches of all replicas, too.
  if (row?.['entered_at'] === null) yield* statements.enter.run({ user: userId, now });
}
