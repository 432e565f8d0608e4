/**
 * Rows of a backup: a consistent copy of the database, in which each sandbox then gets its row of the moment at which its
 * files were copied. The secrets in it stay sealed.
 */
import { backup, DatabaseSync } from 'node:sqlite';
import { createPrivately } from './database.ts';

export interface BackupRows {
  /** Version of the schema. */
  schemaVersion: number;
  /** Ids of the sandboxes that a backup has, in order of creation. */
  sandboxes(): string[];
  /** Returns the state of a sandbox as it is now; null when it is gone, or not made yet. */
  current(id: string): CurrentRow | null;
  /** Gives the copy this sandbox's row as it is now. Returns false when it no longer fits among the others. */
  take(id: string): boolean;
  remove(id: string): void;
  /** The sandbox stays, in error, for this reason. */
  markLeftOut(id: string, reason: string): void;
  /** Ids of the snapshots that have a disk. */
  capturedDisks(): string[];
  removeSnapshot(id: string): void;
  /** Digests of the images that sandboxes and snapshots of the copy are made of. */
  images(): string[];
  /** Settles all rows as those of an installation of which nothing runs; then the file is whole. */
  finish(now: number): void;
  close(): void;
}

/** Sandboxes of the pool, unfinished ones, ones that go, and ones that a stop deletes. */
const GONE = `owner_id IS NULL OR coalesce(operation, '') IN ('creating', 'deleting')
  OR ephemeral = 1 OR auto_delete_minutes = 0`;

export interface CurrentRow {
  /** Changes with every change of the sandbox's files. */
  version: string;
  /** Of its only sure content: its disk, its archive on this host, or one outside this host. */
  content: 'disk' | 'archive' | 'outside';
}

const ALL_PAGES = 2_147_483_647;
const STOPPED_REASON = 'It was restored from a backup, in which it ran.';

/** Copies the database of a service, which may run, into a new file. */
export async function copyRows(source: string, target: string): Promise<BackupRows> {
  createPrivately(target);
  const live = new DatabaseSync(source, { timeout: 1_000 });
  try {
    // In one step, on another thread: a later step would begin anew after each write of the service.
    await backup(live, target, { rate: ALL_PAGES });
  } finally {
    live.close();
  }
  const copy = new DatabaseSync(target, { timeout: 1_000, enableForeignKeyConstraints: false });
  // The file is synced as a whole later; until then a crash throws it away.
  copy.exec('PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF; PRAGMA trusted_schema = OFF;');
  copy.prepare('ATTACH ? AS live').run(source);
  return rowsOf(copy);
}

function rowsOf(copy: DatabaseSync): BackupRows {
  const current = copy.prepare(
    `SELECT generation, operation, state, archive FROM live.sandboxes
     WHERE id = ? AND NOT (${GONE})`,
  );
  const remove = copy.prepare('DELETE FROM sandboxes WHERE id = ?');
  const removeSnapshot = copy.prepare('DELETE FROM main.snapshots WHERE id = ?');
  const insert = copy.prepare('INSERT INTO sandboxes SELECT * FROM live.sandboxes WHERE id = ?');
  const leaveOut = copy.prepare(
    `UPDATE sandboxes SET state = 'error', operation = NULL, run_generation = NULL, state_reason = ? WHERE id = ?`,
  );
  const version = copy.prepare('PRAGMA main.user_version').get();
  return {
    schemaVersion: Number(version?.['user_version']),

    sandboxes: () =>
      copy
        .prepare(`SELECT id FROM main.sandboxes WHERE NOT (${GONE}) ORDER BY created_at, id`)
        .all()
        .map((row) => String(row['id'])),

    current(id) {
      const row = current.get(id);
      if (row === undefined) return null;
      const { generation, operation, state, archive } = row;
      return {
        version: JSON.stringify([generation, operation, state, archive]),
        content: contentOf(archive),
      };
    },

    take(id) {
      copy.exec('BEGIN');
      try {
        remove.run(id);
        insert.run(id);
        copy.exec('COMMIT');
        return true;
      } catch {
        copy.exec('ROLLBACK');
        return false;
      }
    },

    remove: (id) => void remove.run(id),
    markLeftOut: (id, reason) => void leaveOut.run(reason, id),

    capturedDisks: () =>
      copy
        .prepare(
          `SELECT id FROM main.snapshots WHERE source IS NOT NULL AND state = 'active' ORDER BY created_at, id`,
        )
        .all()
        .map((row) => String(row['id'])),

    removeSnapshot: (id) => void removeSnapshot.run(id),

    images: () =>
      copy
        .prepare(
          `SELECT image_digest AS digest FROM main.sandboxes WHERE NOT (${GONE})
           UNION SELECT image_digest FROM main.snapshots WHERE state = 'active' AND image_digest IS NOT NULL`,
        )
        .all()
        .map((row) => String(row['digest'])),

    finish(now) {
      copy.exec('DETACH live');
      copy.exec('BEGIN');
      copy.exec(SETTLE);
      copy
        .prepare(
          `UPDATE sandboxes SET state = 'stopped', run_generation = NULL, stopped_at = ?, state_reason = ?
           WHERE state = 'started'`,
        )
        .run(now, STOPPED_REASON);
      for (const table of ['access_tokens', 'git_credentials', 'preview_epochs', 'sessions'])
        copy.exec(`DELETE FROM ${table} WHERE sandbox_id NOT IN (SELECT id FROM sandboxes)`);
      copy.exec('COMMIT');
    },

    close: () => copy.close(),
  };
}

/** A pool is made anew; an operation in progress ends where it began; no process holds anything. */
const SETTLE = `
  DELETE FROM sandboxes WHERE ${GONE};
  DELETE FROM snapshots WHERE source IS NOT NULL AND state = 'pending';
  UPDATE sandboxes SET operation = NULL, resize_target = NULL, rollback_to = NULL, holder = NULL;
  DELETE FROM build_steps;
  DELETE FROM replicas;
  DELETE FROM idempotency_held;
`;

function contentOf(archive: unknown): CurrentRow['content'] {
  if (archive === null) return 'disk';
  return JSON.parse(String(archive)).store === 's3' ? 'outside' : 'archive';
}

/**
 * Lets intervals count from the restore, and removes deadlines that have passed: else a sandbox could be deleted before
 * anybody has seen it again.
 */
export function countFromRestore(file: string, now: number): void {
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA trusted_schema = OFF;');
    database
      .prepare('UPDATE sandboxes SET stopped_at = ?, last_activity_at = ? WHERE stopped_at IS NOT NULL')
      .run(now, now);
    // A backup of an older service has no such column.
    const columns = database.prepare('PRAGMA table_info(sandboxes)').all();
    if (!columns.some(({ name }) => name === 'deadline')) return;
    database
      .prepare(`UPDATE sandboxes SET deadline = NULL WHERE json_extract(deadline, '$.at') <= ?`)
      .run(now);
  } finally {
    database.close();
  }
}
