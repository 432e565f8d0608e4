/**
 * Statements on authorizations under way at the provider. Using a state up and taking a turn to poll are one UPDATE each:
 * of callers at once, one matches its WHERE.
 */
import { statement } from '../sql/sql.ts';

const userColumns = `user_id,
  (SELECT name FROM users WHERE users.id = pending_authorizations.user_id) AS user_name,
  (SELECT email FROM users WHERE users.id = pending_authorizations.user_id) AS user_email`;
const byState = 'state_hash = :hash AND provider = :provider AND expires_at > :now';
const newestFirst = 'ORDER BY created_at DESC, rowid DESC LIMIT 1000';

export const pendingStatements = {
  fresh: statement(
    `SELECT id, created_at, expires_at, state, verifier FROM pending_authorizations
       WHERE user_id = :user AND provider = :provider AND state_hash IS NOT NULL AND expires_at >= :until
       ORDER BY created_at, rowid LIMIT 1`,
  ),
  makeRoom: statement(
    `DELETE FROM pending_authorizations WHERE id IN (
       SELECT id FROM pending_authorizations WHERE expires_at <= :over
       UNION ALL
       SELECT id FROM (SELECT id FROM pending_authorizations WHERE user_id = :user AND expires_at > :over
         ${newestFirst} OFFSET :kept_of_user) AS of_user
       UNION ALL
       SELECT id FROM (SELECT id FROM pending_authorizations WHERE expires_at > :over
         ${newestFirst} OFFSET :kept) AS of_all)`,
  ),
  insert: statement(
    `INSERT INTO pending_authorizations (id, user_id, provider, created_at, expires_at, state_hash,
         interval_ms, next_poll_at, state, verifier, device_code)
       VALUES (:id, :user, :provider, :created, :expires, :state_hash,
         :interval, :next_poll, :state, :verifier, :device_code)`,
  ),
  progress: statement(
    `SELECT expires_at, interval_ms, next_poll_at, outcome FROM pending_authorizations
       WHERE id = :id AND user_id = :user AND provider = :provider AND expires_at > :over`,
  ),
  userOf: statement(`SELECT ${userColumns} FROM pending_authorizations WHERE ${byState}`),
  take: statement(
    `UPDATE pending_authorizations SET state_hash = NULL, state = NULL WHERE ${byState}
       RETURNING id, verifier, ${userColumns}`,
  ),
  claimPoll: statement(
    `UPDATE pending_authorizations SET next_poll_at = :until
       WHERE id = :id AND next_poll_at = :seen AND outcome IS NULL RETURNING device_code`,
  ),
  endPoll: statement(
    `UPDATE pending_authorizations
       SET interval_ms = :interval, next_poll_at = :next_poll, expires_at = :expires
       WHERE id = :id AND next_poll_at = :claimed`,
  ),
  decide: statement(
    `UPDATE pending_authorizations
       SET outcome = :outcome, state_hash = NULL, state = NULL, verifier = NULL, device_code = NULL
       WHERE id = :id AND outcome IS NULL`,
  ),
};
