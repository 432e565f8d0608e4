/** Step of the schema: identities at the team's provider, the sign-ins that came from there, and secrets that work once. */
export const identityTables = `
  CREATE TABLE identities (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    linked_at INTEGER NOT NULL,
    PRIMARY KEY (issuer, subject)
  ) STRICT;
  CREATE INDEX identities_by_user ON identities (user_id, linked_at DESC);

  CREATE TABLE provider_sign_ins (
    sign_in_id TEXT PRIMARY KEY REFERENCES sign_ins (id) ON DELETE CASCADE,
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    sid TEXT
  ) STRICT;
  CREATE INDEX provider_sign_ins_by_subject ON provider_sign_ins (issuer, subject);
  CREATE INDEX provider_sign_ins_by_sid ON provider_sign_ins (issuer, sid);

  CREATE TABLE used_proofs (
    hash BLOB PRIMARY KEY CHECK (length(hash) = 32),
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX used_proofs_by_end ON used_proofs (expires_at DESC);
`;
