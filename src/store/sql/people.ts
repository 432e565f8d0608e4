/**
 * Steps of the schema about people: how they sign in, what they let applications do, their teams, and their deletion.
 */

export const signInTables = `
  CREATE TABLE sign_ins (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    key_selector BLOB,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    hash BLOB NOT NULL CHECK (length(hash) = 32),
    since INTEGER NOT NULL,
    next_hash BLOB,
    next_at INTEGER,
    previous_hash BLOB,
    previous_until INTEGER
  ) STRICT;
  CREATE INDEX sign_ins_by_user ON sign_ins (user_id, last_used_at DESC);
  CREATE INDEX sign_ins_by_key ON sign_ins (key_selector);
  CREATE INDEX sign_ins_by_end ON sign_ins (expires_at);

  CREATE TABLE sign_in_links (
    hash BLOB PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX sign_in_links_by_user ON sign_in_links (user_id, expires_at DESC);
`;

/** Step of the schema: passkeys, challenges that were answered, and passwords. */
export const credentialTables = `
  CREATE TABLE passkeys (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    credential_id TEXT NOT NULL,
    public_key BLOB NOT NULL,
    counter INTEGER NOT NULL,
    transports TEXT NOT NULL,
    rp_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER
  ) STRICT;
  CREATE UNIQUE INDEX passkeys_by_credential ON passkeys (credential_id);
  CREATE INDEX passkeys_by_user ON passkeys (user_id, created_at);

  CREATE TABLE used_challenges (
    hash BLOB PRIMARY KEY,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX used_challenges_by_end ON used_challenges (expires_at);

  CREATE TABLE passwords (
    user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    changed_at INTEGER NOT NULL,
    networks TEXT NOT NULL,
    hash BLOB NOT NULL
  ) STRICT;
  CREATE INDEX users_by_name ON users (name);
`;

/** Step of the schema: sign-ins of machines without a browser, until they are answered. */
export const deviceSignIns = `
  CREATE TABLE device_sign_ins (
    hash BLOB PRIMARY KEY CHECK (length(hash) = 32),
    user_code TEXT NOT NULL UNIQUE,
    machine TEXT NOT NULL,
    address TEXT NOT NULL,
    network TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'denied', 'approved')),
    user_id TEXT REFERENCES users (id) ON DELETE CASCADE,
    scopes TEXT,
    key_minutes INTEGER
  ) STRICT;
  CREATE INDEX device_sign_ins_by_network ON device_sign_ins (network);
  CREATE INDEX device_sign_ins_by_end ON device_sign_ins (expires_at);
`;

/** Step of the schema: identities at the team's provider, the sign-ins that came from there, and secrets that work once. */
export const identityTables = `
  CREATE TABLE identities (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    linked_at INTEGER NOT NULL,
    PRIMARY KEY (issuer, subject)
  ) STRICT;
  CREATE INDEX identities_by_user ON identities (user_id, linked_at DESC);

  CREATE TABLE provider_sign_ins (
    sign_in_id TEXT PRIMARY KEY REFERENCES sign_ins (id) ON DELETE CASCADE,
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    sid TEXT
  ) STRICT;
  CREATE INDEX provider_sign_ins_by_subject ON provider_sign_ins (issuer, subject);
  CREATE INDEX provider_sign_ins_by_sid ON provider_sign_ins (issuer, sid);

  CREATE TABLE used_proofs (
    hash BLOB PRIMARY KEY CHECK (length(hash) = 32),
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX used_proofs_by_end ON used_proofs (expires_at DESC);
`;

/** Step of the schema: OAuth clients, grants, and what is issued under them, as hashes with sealed contents. */
export const oauthTables = `
  CREATE TABLE oauth_clients (
    id TEXT PRIMARY KEY,
    name TEXT,
    redirect_uris TEXT NOT NULL,
    network TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX oauth_clients_by_network ON oauth_clients (network, created_at);
  CREATE INDEX oauth_clients_by_end ON oauth_clients (expires_at);

  CREATE TABLE oauth_grants (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    client_id TEXT NOT NULL,
    client_name TEXT,
    redirect_host TEXT NOT NULL,
    resource TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX oauth_grants_by_user ON oauth_grants (user_id, last_used_at DESC);
  CREATE INDEX oauth_grants_by_client ON oauth_grants (client_id);
  CREATE INDEX oauth_grants_by_end ON oauth_grants (expires_at);

  CREATE TABLE oauth_artifacts (
    kind TEXT NOT NULL,
    hash BLOB NOT NULL CHECK (length(hash) = 32),
    grant_id TEXT REFERENCES oauth_grants (id) ON DELETE CASCADE,
    network TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    consumed_at INTEGER,
    payload BLOB NOT NULL,
    PRIMARY KEY (kind, hash)
  ) STRICT;
  CREATE INDEX oauth_artifacts_by_grant ON oauth_artifacts (grant_id, kind, created_at);
  CREATE INDEX oauth_artifacts_by_network ON oauth_artifacts (kind, network, created_at);
  CREATE INDEX oauth_artifacts_by_end ON oauth_artifacts (expires_at);
`;

/**
 * Step of the schema: viewers, and teams. A team is a row of `users`, since owners are what every foreign key names; its
 * email is its id, which is nobody's address. SQLite changes no CHECK, so `role` is a new column under the old name.
 */
export const teamTables = `
  ALTER TABLE users ADD COLUMN any_role TEXT NOT NULL DEFAULT 'member'
    CHECK (any_role IN ('admin', 'member', 'viewer'));
  UPDATE users SET any_role = role;
  ALTER TABLE users DROP COLUMN role;
  ALTER TABLE users RENAME COLUMN any_role TO role;

  ALTER TABLE users ADD COLUMN kind TEXT NOT NULL DEFAULT 'person' CHECK (kind IN ('person', 'team'));
  CREATE UNIQUE INDEX teams_by_name ON users (name COLLATE NOCASE) WHERE kind = 'team';

  CREATE TABLE team_members (
    team_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    role TEXT NOT NULL CHECK (role IN ('member', 'viewer')),
    added_at INTEGER NOT NULL,
    PRIMARY KEY (team_id, user_id)
  ) STRICT;
  CREATE INDEX team_members_by_user ON team_members (user_id);

  ALTER TABLE api_keys ADD COLUMN team_id TEXT REFERENCES users (id) ON DELETE CASCADE;
  CREATE INDEX api_keys_by_team ON api_keys (team_id) WHERE team_id IS NOT NULL;

  ALTER TABLE audit_log ADD COLUMN team_id TEXT;
`;

/** Rows of one owner are found by it, as those of one caller are. */
export const auditByTeam = `
  CREATE INDEX audit_log_by_team ON audit_log (team_id) WHERE team_id IS NOT NULL;
`;

/**
 * Steps of the schema: users that are deleted, or are being deleted while `ended_at` is NULL. What the audit log says of them
 * keeps its names here.
 */
export const userDeletions = `
  CREATE TABLE deleted_users (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    deleted_by TEXT NOT NULL,
    begun_at INTEGER NOT NULL,
    ended_at INTEGER
  ) STRICT;
  CREATE INDEX deleted_users_by_email ON deleted_users (email COLLATE NOCASE);
  CREATE INDEX deleted_users_under_way ON deleted_users (begun_at) WHERE ended_at IS NULL;
`;

/** The user or team that sandboxes and snapshots go to. NULL: they are deleted. */
export const heirs = `
  ALTER TABLE deleted_users ADD COLUMN heir_id TEXT;
`;

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
