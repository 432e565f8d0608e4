/** SQL of OAuth's rows. */
import { statement } from '../../sql/sql.ts';

const CLIENT = 'id, name, redirect_uris, network, created_at, expires_at';
const GRANT =
  'id, user_id, client_id, client_name, redirect_host, resource, scopes, created_at, last_used_at, expires_at';
const ARTIFACT = 'kind, hash, grant_id, network, created_at, expires_at, consumed_at, payload';
const OF_USER = '(user_id = :user OR :user IS NULL)';
const UNUSED = 'NOT EXISTS (SELECT 1 FROM oauth_grants WHERE oauth_grants.client_id = oauth_clients.id)';

export const oauthStatements = {
  addClient: statement(
    `INSERT INTO oauth_clients (${CLIENT}) VALUES (:id, :name, :uris, :network, :created, :expires)`,
  ),
  findClient: statement(`SELECT ${CLIENT} FROM oauth_clients WHERE id = :id AND expires_at > :now`),
  surplusClients: statement(
    `DELETE FROM oauth_clients WHERE id IN (SELECT id FROM oauth_clients WHERE network = :network AND ${UNUSED}
       ORDER BY created_at DESC, rowid DESC LIMIT 1000 OFFSET :kept)`,
  ),
  countUnusedClients: statement(`SELECT count(*) AS count FROM oauth_clients WHERE ${UNUSED}`),
  displaceClient: statement(
    `DELETE FROM oauth_clients WHERE id IN (SELECT id FROM oauth_clients WHERE ${UNUSED} AND network =
       (SELECT network FROM oauth_clients WHERE ${UNUSED} GROUP BY network ORDER BY count(*) DESC, network LIMIT 1)
       ORDER BY created_at, rowid LIMIT 1)`,
  ),
  keepClient: statement(
    'UPDATE oauth_clients SET expires_at = :until WHERE id = :id AND expires_at < :until',
  ),
  keepClientOf: statement(
    `UPDATE oauth_clients SET expires_at = :until
       WHERE id = (SELECT client_id FROM oauth_grants WHERE id = :grant) AND expires_at < :until`,
  ),
  pruneClients: statement('DELETE FROM oauth_clients WHERE expires_at <= :now'),

  addGrant: statement(
    `INSERT INTO oauth_grants (${GRANT})
       VALUES (:id, :user, :client, :client_name, :redirect_host, :resource, :scopes, :created, :used, :expires)`,
  ),
  surplusGrants: statement(
    `DELETE FROM oauth_grants WHERE id IN (SELECT id FROM oauth_grants WHERE user_id = :user
       ORDER BY last_used_at DESC, rowid DESC LIMIT 1000 OFFSET :kept) RETURNING id`,
  ),
  findGrant: statement(
    `SELECT oauth_grants.*, users.name, users.email, users.role, users.disabled_at
     FROM oauth_grants JOIN users ON users.id = oauth_grants.user_id
     WHERE oauth_grants.id = :id AND oauth_grants.expires_at > :now`,
  ),
  listGrants: statement(
    `SELECT ${GRANT} FROM oauth_grants WHERE ${OF_USER} AND expires_at > :now
       ORDER BY last_used_at DESC, rowid DESC LIMIT :limit OFFSET :offset`,
  ),
  countGrants: statement(`SELECT count(*) AS count FROM oauth_grants WHERE ${OF_USER} AND expires_at > :now`),
  extendGrant: statement(
    'UPDATE oauth_grants SET expires_at = :until WHERE id = :id AND expires_at < :until',
  ),
  removeGrant: statement(`DELETE FROM oauth_grants WHERE id = :id AND ${OF_USER} RETURNING ${GRANT}`),
  touchGrant: statement('UPDATE oauth_grants SET last_used_at = :at WHERE id = :id AND last_used_at < :at'),
  pruneGrants: statement('DELETE FROM oauth_grants WHERE expires_at <= :now'),

  putArtifact: statement(
    `INSERT INTO oauth_artifacts (${ARTIFACT})
       VALUES (:kind, :hash, :grant, :network, :created, :expires, :consumed, :payload)
     ON CONFLICT (kind, hash) DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at`,
  ),
  surplusOfGrant: statement(
    `DELETE FROM oauth_artifacts WHERE kind = :kind AND hash IN (SELECT hash FROM oauth_artifacts
       WHERE kind = :kind AND grant_id = :grant ORDER BY created_at DESC, rowid DESC LIMIT 1000 OFFSET :kept)`,
  ),
  surplusOfNetwork: statement(
    `DELETE FROM oauth_artifacts WHERE kind = :kind AND hash IN (SELECT hash FROM oauth_artifacts
       WHERE kind = :kind AND network = :network ORDER BY created_at DESC, rowid DESC LIMIT 1000 OFFSET :kept)`,
  ),
  countArtifacts: statement('SELECT count(*) AS count FROM oauth_artifacts WHERE kind = :kind'),
  displaceArtifact: statement(
    `DELETE FROM oauth_artifacts WHERE kind = :kind AND hash IN (SELECT hash FROM oauth_artifacts
       WHERE kind = :kind AND network = (SELECT network FROM oauth_artifacts WHERE kind = :kind
         GROUP BY network ORDER BY count(*) DESC, network LIMIT 1)
       ORDER BY created_at, rowid LIMIT 1)`,
  ),
  findArtifact: statement(`SELECT ${ARTIFACT} FROM oauth_artifacts WHERE kind = :kind AND hash = :hash`),
  consumeArtifact: statement(
    `UPDATE oauth_artifacts SET consumed_at = :now
       WHERE kind = :kind AND hash = :hash AND consumed_at IS NULL`,
  ),
  removeArtifact: statement('DELETE FROM oauth_artifacts WHERE kind = :kind AND hash = :hash'),
  pruneArtifacts: statement('DELETE FROM oauth_artifacts WHERE expires_at <= :now'),
};
