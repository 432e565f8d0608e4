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
