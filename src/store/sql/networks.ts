/** Step of the schema: networks of snapshots and of owners; NULL is the installation's. */

export const networkTables = `
  ALTER TABLE snapshots ADD COLUMN network TEXT;

  CREATE TABLE owner_networks (
    owner_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    usual TEXT,
    most TEXT
  ) STRICT;
`;
