/**
 * Step of the schema: viewers, and teams. A team is a row of `users`, since owners are what every foreign key names; its
 * email is its id, which is nobody's address. SQLite changes no CHECK, so `role` is a new column under the old name.
 */
export const teamTables = `
  ALTER TABLE users ADD COLUMN any_role TEXT NOT NULL DEFAULT 'member'
    CHECK (any_role IN ('admin', 'member', 'viewer'));
  UPDATE users SET any_role = role;
  ALTER TABLE users DROP COLUMN role;
  ALTER TABLE users RENAME COLUMN any_role TO role;

  ALTER TABLE users ADD COLUMN kind TEXT NOT NULL DEFAULT 'person' CHECK (kind IN ('person', 'team'));
  CREATE UNIQUE INDEX teams_by_name ON users (name COLLATE NOCASE) WHERE kind = 'team';

  CREATE TABLE team_members (
    team_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    role TEXT NOT NULL CHECK (role IN ('member', 'viewer')),
    added_at INTEGER NOT NULL,
    PRIMARY KEY (team_id, user_id)
  ) STRICT;
  CREATE INDEX team_members_by_user ON team_members (user_id);

  ALTER TABLE api_keys ADD COLUMN team_id TEXT REFERENCES users (id) ON DELETE CASCADE;
  CREATE INDEX api_keys_by_team ON api_keys (team_id) WHERE team_id IS NOT NULL;

  ALTER TABLE audit_log ADD COLUMN team_id TEXT;
`;

/** Rows of one owner are found by it, as those of one caller are. */
export const auditByTeam = `
  CREATE INDEX audit_log_by_team ON audit_log (team_id) WHERE team_id IS NOT NULL;
`;
