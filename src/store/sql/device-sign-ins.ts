/** Step of the schema: sign-ins of machines without a browser, until they are answered. */
export const deviceSignIns = `
  CREATE TABLE device_sign_ins (
    hash BLOB PRIMARY KEY CHECK (length(hash) = 32),
    user_code TEXT NOT NULL UNIQUE,
    machine TEXT NOT NULL,
    address TEXT NOT NULL,
    network TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'denied', 'approved')),
    user_id TEXT REFERENCES users (id) ON DELETE CASCADE,
    scopes TEXT,
    key_minutes INTEGER
  ) STRICT;
  CREATE INDEX device_sign_ins_by_network ON device_sign_ins (network);
  CREATE INDEX device_sign_ins_by_end ON device_sign_ins (expires_at);
`;
