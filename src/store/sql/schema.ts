/**
 * The schema of both databases as ordered steps, in SQLite's words; `src/store/postgres/schema.ts` translates them. A
 * released step is never edited: a change is a new step.
 */

import { SandhavenError } from '../../model/errors.ts';
import {
  auditByTeam,
  credentialTables,
  deviceSignIns,
  heirs,
  identityTables,
  oauthTables,
  signInTables,
  teamTables,
  userDeletions,
  waysIn,
} from './people.ts';
import {
  builds,
  deadlines,
  linuxUsers,
  networks,
  networkTables,
  pendingAuthorizations,
  providerAuthorizations,
  providerSecrets,
  renewals,
  rollbacks,
  secretTables,
  sessionTable,
  sleeps,
  snapshotSources,
  tokenEpochs,
} from './sandboxes.ts';
import { webhookTables } from './webhooks.ts';

export interface Migration {
  /** Number of the step: from 1, without gaps. */
  version: number;
  sql: string;
}

const previewEpochs = `
  CREATE TABLE preview_epochs (
    sandbox_id TEXT PRIMARY KEY REFERENCES sandboxes (id) ON DELETE CASCADE,
    epoch INTEGER NOT NULL
  ) STRICT;
`;

const signingEpochs = `
  ALTER TABLE preview_epochs ADD COLUMN signing INTEGER NOT NULL DEFAULT 0;
`;

/** A JSON array; NULL: all. */
const scopes = `
  ALTER TABLE api_keys ADD COLUMN scopes TEXT;
`;

const idempotencyByOwner = `
  CREATE INDEX idempotency_by_owner ON idempotency (owner_id, created_at);
`;

const people = `
  ALTER TABLE users ADD COLUMN role TEXT NOT NULL DEFAULT 'member' CHECK (role IN ('admin', 'member'));
  ALTER TABLE users ADD COLUMN created_at INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE users ADD COLUMN disabled_at INTEGER;
  ALTER TABLE users ADD COLUMN quota TEXT NOT NULL DEFAULT '{}';
  CREATE UNIQUE INDEX users_by_email ON users (email COLLATE NOCASE);
  UPDATE users SET role = 'admin';

  ALTER TABLE api_keys ADD COLUMN name TEXT NOT NULL DEFAULT '';
  ALTER TABLE api_keys ADD COLUMN created_at INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE api_keys ADD COLUMN expires_at INTEGER;
  ALTER TABLE api_keys ADD COLUMN last_used_at INTEGER;
  ALTER TABLE api_keys ADD COLUMN revoked_at INTEGER;
  CREATE INDEX api_keys_by_user ON api_keys (user_id, created_at);
`;

/** No index on time: rows are ordered by it, and binary search finds them. */
const auditLog = `
      CREATE TABLE audit_log (
        sequence INTEGER PRIMARY KEY,
        time INTEGER NOT NULL,
        action TEXT NOT NULL,
        transport TEXT NOT NULL,
        outcome TEXT NOT NULL,
        duration_ms REAL NOT NULL,
        user_id TEXT,
        key_id TEXT,
        sandbox_id TEXT,
        client_address TEXT,
        request_id TEXT,
        count INTEGER,
        hash BLOB NOT NULL CHECK (length(hash) = 32)
      ) STRICT;
      CREATE INDEX audit_log_by_user ON audit_log (user_id) WHERE user_id IS NOT NULL;
      CREATE INDEX audit_log_by_sandbox ON audit_log (sandbox_id) WHERE sandbox_id IS NOT NULL;

      CREATE TABLE audit_anchor (
        only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
        sequence INTEGER NOT NULL,
        hash BLOB NOT NULL CHECK (length(hash) = 32),
        seal BLOB NOT NULL CHECK (length(seal) = 32)
      ) STRICT;
    `;
const registries = `
  CREATE TABLE registry_credentials (
    registry TEXT PRIMARY KEY,
    username TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    password BLOB NOT NULL
  ) STRICT;
`;

/** Processes that share the store, and the work of each. */
const replicas = `
  CREATE TABLE replicas (
    id TEXT PRIMARY KEY,
    renewed_at INTEGER NOT NULL
  ) STRICT;
  ALTER TABLE sandboxes ADD COLUMN holder TEXT;
  CREATE INDEX sandboxes_in_operation ON sandboxes (id) WHERE operation IS NOT NULL;
  CREATE TABLE idempotency_held (
    owner_id TEXT NOT NULL,
    key TEXT NOT NULL,
    holder TEXT NOT NULL,
    PRIMARY KEY (owner_id, key)
  ) STRICT;
`;

const serviceSecrets = `
  CREATE TABLE service_secrets (
    name TEXT PRIMARY KEY,
    box BLOB NOT NULL
  ) STRICT;
`;

export const migrations: readonly Migration[] = [
  {
    version: 1,
    sql: `
      CREATE TABLE installation (
        only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
        secret_key_id TEXT NOT NULL
      ) STRICT;

      CREATE TABLE users (
        sequence INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL,
        email TEXT NOT NULL
      ) STRICT;

      CREATE TABLE api_keys (
        hash BLOB PRIMARY KEY CHECK (length(hash) = 32),
        selector BLOB NOT NULL CHECK (length(selector) = 8),
        user_id TEXT NOT NULL REFERENCES users (id)
      ) STRICT;
      CREATE INDEX api_keys_by_selector ON api_keys (selector);

      CREATE TABLE idempotency (
        owner_id TEXT NOT NULL REFERENCES users (id),
        key TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        answer BLOB NOT NULL,
        PRIMARY KEY (owner_id, key)
      ) STRICT;
      CREATE INDEX idempotency_by_age ON idempotency (created_at);

      -- What is large comes last: reading the columns before it does not read it.
      CREATE TABLE sandboxes (
        id TEXT PRIMARY KEY,
        owner_id TEXT REFERENCES users (id),
        name TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('started', 'stopped', 'archived', 'error')),
        operation TEXT CHECK (operation IN
          ('creating', 'starting', 'stopping', 'archiving', 'restoring', 'resizing', 'deleting')),
        generation INTEGER NOT NULL,
        run_generation INTEGER,
        language TEXT NOT NULL CHECK (language IN ('python', 'typescript', 'javascript')),
        auto_stop_minutes INTEGER NOT NULL,
        auto_archive_minutes INTEGER NOT NULL,
        auto_delete_minutes INTEGER NOT NULL,
        ephemeral INTEGER NOT NULL CHECK (ephemeral IN (0, 1)),
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        last_activity_at INTEGER NOT NULL,
        started_at INTEGER,
        stopped_at INTEGER,
        archived_at INTEGER,
        region_id TEXT NOT NULL,
        snapshot TEXT,
        image TEXT NOT NULL,
        image_digest TEXT NOT NULL,
        resources TEXT NOT NULL,
        resize_target TEXT,
        archive TEXT,
        creation_key TEXT,
        state_reason TEXT,
        entrypoint TEXT,
        labels TEXT NOT NULL,
        env_vars BLOB NOT NULL
      ) STRICT;
      CREATE UNIQUE INDEX sandboxes_by_name ON sandboxes (owner_id, name) WHERE owner_id IS NOT NULL;
      CREATE INDEX sandboxes_by_creation_key ON sandboxes (owner_id, creation_key)
        WHERE creation_key IS NOT NULL;
      CREATE INDEX sandboxes_by_age ON sandboxes (owner_id, created_at DESC, id DESC);
      CREATE INDEX sandboxes_without_owner ON sandboxes (created_at, id) WHERE owner_id IS NULL;
    `,
  },
  {
    version: 2,
    sql: `
      CREATE TABLE snapshots (
        id TEXT PRIMARY KEY,
        owner_id TEXT NOT NULL REFERENCES users (id),
        name TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('pending', 'pulling', 'active', 'error')),
        state_reason TEXT,
        image TEXT NOT NULL,
        image_digest TEXT,
        entrypoint TEXT,
        resources TEXT NOT NULL,
        region_id TEXT NOT NULL,
        size_bytes INTEGER,
        creation_key TEXT,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL
      ) STRICT;
      CREATE UNIQUE INDEX snapshots_by_name ON snapshots (owner_id, name);
      CREATE INDEX snapshots_by_age ON snapshots (owner_id, created_at DESC, id DESC);
      CREATE INDEX snapshots_by_creation_key ON snapshots (owner_id, creation_key)
        WHERE creation_key IS NOT NULL;

      CREATE TABLE access_tokens (
        id TEXT PRIMARY KEY,
        sandbox_id TEXT NOT NULL REFERENCES sandboxes (id) ON DELETE CASCADE,
        kind TEXT NOT NULL CHECK (kind IN ('ssh', 'preview')),
        port INTEGER,
        hash BLOB NOT NULL CHECK (length(hash) = 32),
        created_at INTEGER NOT NULL,
        expires_at INTEGER
      ) STRICT;
      CREATE UNIQUE INDEX access_tokens_by_hash ON access_tokens (kind, hash);
      CREATE INDEX access_tokens_by_sandbox ON access_tokens (sandbox_id, kind);

      CREATE TABLE git_credentials (
        sandbox_id TEXT NOT NULL REFERENCES sandboxes (id) ON DELETE CASCADE,
        url TEXT NOT NULL,
        username TEXT NOT NULL,
        password BLOB NOT NULL,
        PRIMARY KEY (sandbox_id, url)
      ) STRICT;
    `,
  },
  { version: 3, sql: [people, auditLog, registries, providerAuthorizations].join('') },
  { version: 4, sql: previewEpochs },
  { version: 5, sql: idempotencyByOwner },
  { version: 6, sql: replicas },
  { version: 7, sql: serviceSecrets },
  { version: 8, sql: pendingAuthorizations },
  { version: 9, sql: renewals },
  { version: 10, sql: scopes },
  { version: 11, sql: signInTables },
  { version: 12, sql: deviceSignIns },
  { version: 13, sql: credentialTables },
  { version: 14, sql: identityTables },
  { version: 15, sql: oauthTables },
  { version: 16, sql: teamTables },
  { version: 17, sql: auditByTeam },
  { version: 18, sql: webhookTables },
  { version: 19, sql: networks },
  { version: 20, sql: secretTables },
  { version: 21, sql: networkTables },
  { version: 22, sql: providerSecrets },
  { version: 23, sql: waysIn },
  { version: 24, sql: sessionTable },
  { version: 25, sql: userDeletions },
  { version: 26, sql: heirs },
  { version: 27, sql: linuxUsers },
  { version: 28, sql: signingEpochs },
  { version: 29, sql: deadlines },
  { version: 30, sql: sleeps },
  { version: 31, sql: tokenEpochs },
  { version: 32, sql: snapshotSources },
  { version: 33, sql: rollbacks },
  { version: 34, sql: builds },
];

/** Throws `failed_precondition` for a database that a newer service has migrated: it is not touched. @param found Its version. */
export function refuseNewer(found: number, steps: readonly Migration[]): void {
  const newest = steps.at(-1)?.version ?? 0;
  if (found <= newest) return;
  throw new SandhavenError(
    'failed_precondition',
    `The database has schema version ${found}; this service knows versions up to ${newest}.`,
    { hint: 'Start the newer service that wrote it, or restore a backup from before that one.' },
  );
}
