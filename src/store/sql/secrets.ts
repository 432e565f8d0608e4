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
