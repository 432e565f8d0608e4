/** Step of the schema: browsers' sign-ins and one-time links, as hashes of their tokens. */
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
