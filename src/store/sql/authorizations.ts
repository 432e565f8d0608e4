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
