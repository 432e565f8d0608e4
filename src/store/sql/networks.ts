/** Steps of the schema: networks of sandboxes, then of snapshots and of owners; NULL is the installation's. */

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
