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
