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
