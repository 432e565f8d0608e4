/**
 * Steps of the schema about what sandboxes have and reach: networks, users, secrets, authorizations at the
 * code-hosting provider, sessions.
 */

/** Sandboxes of before have an open network. */
export const networks = `
  ALTER TABLE sandboxes ADD COLUMN network TEXT NOT NULL
    DEFAULT '{"mode":"open","profiles":[],"allow":[]}';
`;

export const networkTables = `
  ALTER TABLE snapshots ADD COLUMN network TEXT;

  CREATE TABLE owner_networks (
    owner_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    usual TEXT,
    most TEXT
  ) STRICT;
`;

/** NULL: root. In PostgreSQL `user` is a word of the language. */
export const linuxUsers = `
  ALTER TABLE sandboxes ADD COLUMN linux_user TEXT;
  ALTER TABLE snapshots ADD COLUMN linux_user TEXT;
`;

/** The sandbox whose disk a snapshot has, as one JSON object; NULL: it has none. */
export const snapshotSources = `
  ALTER TABLE snapshots ADD COLUMN source TEXT;
`;

/** The captured disk that a sandbox's disk is being put back to; NULL: none. */
export const rollbacks = `
  ALTER TABLE sandboxes ADD COLUMN rollback_to TEXT;
`;

/** A moment and what happens then, as one JSON object; NULL: none. */
export const deadlines = `
  ALTER TABLE sandboxes ADD COLUMN deadline TEXT;
`;

/** Settings of sleep, as one JSON object; NULL: nothing was set. */
export const sleeps = `
  ALTER TABLE sandboxes ADD COLUMN sleep TEXT;
`;

/** `public`: "all", or a JSON array of ports; NULL: none. */
export const tokenEpochs = `
  ALTER TABLE preview_epochs ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE preview_epochs ADD COLUMN public TEXT;
`;

/** Steps of the schema: secrets that sandboxes use, and the ids of those that each one has, as a JSON array. */
export const secretTables = `
  CREATE TABLE secrets (
    id TEXT PRIMARY KEY,
    owner_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    variable TEXT NOT NULL,
    targets TEXT NOT NULL,
    place TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    rotated_at INTEGER NOT NULL,
    expires_at INTEGER,
    last_used_at INTEGER,
    value BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX secrets_by_name ON secrets (owner_id, name);

  ALTER TABLE sandboxes ADD COLUMN secrets TEXT NOT NULL DEFAULT '[]';
`;

/** A secret whose value is its owner's authorization at this provider has no value of its own: an empty one. */
export const providerSecrets = `
  ALTER TABLE secrets ADD COLUMN provider TEXT;
`;

/** A step of the schema: captured steps of builds, and settings of built images, of snapshots and of what is made from them. */
export const builds = `
  CREATE TABLE build_steps (
    capture_id TEXT PRIMARY KEY,
    owner_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    used_at INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX build_steps_by_key ON build_steps (owner_id, key);

  ALTER TABLE snapshots ADD COLUMN image_config TEXT;
  ALTER TABLE sandboxes ADD COLUMN image_config TEXT;
`;

/** Steps of the schema: authorizations at the code-hosting provider, those under way, and their renewal. */
export const providerAuthorizations = `
  CREATE TABLE provider_authorizations (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    provider TEXT NOT NULL,
    account_id TEXT NOT NULL,
    account_login TEXT NOT NULL,
    scopes TEXT NOT NULL,
    access_token BLOB NOT NULL,
    access_expires_at INTEGER,
    refresh_token BLOB,
    refresh_expires_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX provider_authorizations_by_user ON provider_authorizations (user_id, provider);
`;

/** `state` is also kept sealed, since repeated calls show the same URL. */
export const pendingAuthorizations = `
  CREATE TABLE pending_authorizations (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    provider TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    state_hash BLOB CHECK (length(state_hash) = 32),
    interval_ms INTEGER,
    next_poll_at INTEGER,
    outcome TEXT,
    state BLOB,
    verifier BLOB,
    device_code BLOB
  ) STRICT;
  CREATE UNIQUE INDEX pending_authorizations_by_state ON pending_authorizations (state_hash);
  CREATE INDEX pending_authorizations_by_user ON pending_authorizations (user_id, created_at);
  CREATE INDEX pending_authorizations_by_end ON pending_authorizations (expires_at);
`;

export const renewals = `
  ALTER TABLE provider_authorizations ADD COLUMN renewing_until INTEGER;
`;

/** A step of the schema: sessions that were made, and from a stop to the next start their logs, as packed JSON. */
export const sessionTable = `
  CREATE TABLE sessions (
    sandbox_id TEXT NOT NULL REFERENCES sandboxes (id) ON DELETE CASCADE,
    session_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    logs BLOB,
    PRIMARY KEY (sandbox_id, session_id)
  ) STRICT;
`;
