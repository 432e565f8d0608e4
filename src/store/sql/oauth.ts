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
