/**
 * Step of the schema: the time at which a user came in first, and the admin who made a way in for somebody else. NULL: never,
 * and the user's own. Of users of before, whoever has used a way in or owns something has come in.
 */
const OWNED = ['sandboxes', 'snapshots', 'secrets'];
const MADE_INSIDE = ['sign_ins', 'passkeys', 'passwords', 'oauth_grants', 'provider_authorizations'];
const has = (table: string, column: string) =>
  `EXISTS (SELECT 1 FROM ${table} WHERE ${table}.${column} = users.id)`;

export const waysIn = `
  ALTER TABLE users ADD COLUMN entered_at INTEGER;
  UPDATE users SET entered_at = created_at WHERE kind = 'person' AND (
    EXISTS (SELECT 1 FROM api_keys WHERE api_keys.user_id = users.id AND api_keys.last_used_at IS NOT NULL)
    OR ${OWNED.map((table) => has(table, 'owner_id')).join(' OR ')}
    OR ${MADE_INSIDE.map((table) => has(table, 'user_id')).join(' OR ')});

  ALTER TABLE api_keys ADD COLUMN created_by TEXT;
  ALTER TABLE sign_in_links ADD COLUMN created_by TEXT;
  ALTER TABLE sign_ins ADD COLUMN made_by TEXT;
  ALTER TABLE identities ADD COLUMN linked_by TEXT;
  ALTER TABLE audit_log ADD COLUMN made_by TEXT;
`;
