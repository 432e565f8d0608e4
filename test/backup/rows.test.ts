/** Rows of a backup: each sandbox as it is when its files are copied, and nothing that would run or go. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { secretsOf } from '../../src/store/files/secrets.ts';
import { type BackupRows, copyRows, countFromRestore } from '../../src/store/sqlite/backup-rows.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';

type Row = Record<string, string | number | null>;

let folder: string;
let live: DatabaseSync;
let rows: BackupRows | null = null;

const liveFile = () => join(folder, 'live.db');
const copyFile = () => join(folder, 'copy.db');

const usual: Row = {
  ...{ owner_id: 'usr_1', state: 'stopped', operation: null, generation: 1, run_generation: null },
  ...{ language: 'python', auto_stop_minutes: 0, auto_archive_minutes: 0, auto_delete_minutes: -1 },
  ...{ ephemeral: 0, created_at: 1, updated_at: 1, last_activity_at: 1, stopped_at: 5, region_id: 'local' },
  ...{ image: 'base', image_digest: 'a'.repeat(64), resources: '{}', archive: null, labels: '{}' },
};

function add(id: string, row: Row = {}): void {
  const whole: Row = { id, name: id, env_vars: '', ...usual, ...row };
  const names = Object.keys(whole);
  const values = names.map((name) => (name === 'env_vars' ? "x''" : `:${name}`));
  const { env_vars: _, ...bound } = whole;
  live.prepare(`INSERT INTO sandboxes (${names}) VALUES (${values})`).run(bound);
}

async function copy(): Promise<BackupRows> {
  rows = await copyRows(liveFile(), copyFile());
  return rows;
}

function restored(columns: string): Row[] {
  const database = new DatabaseSync(copyFile());
  const found = database.prepare(`SELECT ${columns} FROM sandboxes ORDER BY id`).all() as Row[];
  database.close();
  return found.map((row) => ({ ...row }));
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sandhaven-backup-rows-'));
  await (await openSqliteStore({ file: liveFile(), secrets: secretsOf(Buffer.alloc(32)) })).close();
  live = new DatabaseSync(liveFile());
  live.exec(`INSERT INTO users (id, name, email) VALUES ('usr_1', 'Ada', 'ada@example.org')`);
});
afterEach(() => {
  rows?.close();
  rows = null;
  live.close();
  rmSync(folder, { recursive: true });
});

describe('rows of a backup', () => {
  it('have no sandbox of the pool, none that a stop deletes, none unfinished', async () => {
    add('kept');
    add('pool', { owner_id: null });
    add('ephemeral', { ephemeral: 1 });
    add('deleted-by-stop', { auto_delete_minutes: 0 });
    add('creating', { operation: 'creating' });
    add('deleting', { operation: 'deleting' });
    const copied = await copy();
    expect(copied.sandboxes()).toEqual(['kept']);
    expect(copied.current('ephemeral')).toBeNull();
    copied.finish(9);
    expect(restored('id')).toEqual([{ id: 'kept' }]);
  });

  it('are stopped, with the reason, where they ran, and keep no operation', async () => {
    add('ran', { state: 'started', run_generation: 1, operation: 'resizing' });
    (await copy()).finish(9);
    expect(restored('state, operation, run_generation, stopped_at, state_reason')).toEqual([
      {
        state: 'stopped',
        operation: null,
        run_generation: null,
        stopped_at: 9,
        state_reason: 'It was restored from a backup, in which it ran.',
      },
    ]);
  });

  it('are of the moment of the copy of the files', async () => {
    add('later');
    add('gone');
    const copied = await copy();
    live.exec(`UPDATE sandboxes SET state = 'archived', generation = 2, archive = '{"store":"local"}'`);
    expect(copied.current('later')).toMatchObject({ content: 'archive' });
    expect(copied.take('later')).toBe(true);
    copied.remove('gone');
    copied.finish(9);
    expect(restored('id, state, generation')).toEqual([{ id: 'later', state: 'archived', generation: 2 }]);
  });

  it('name where the only content is', async () => {
    add('disk');
    add('outside', { state: 'archived', archive: '{"store":"s3","bucket":"b","key":"k"}' });
    const copied = await copy();
    expect(copied.current('disk')).toMatchObject({ content: 'disk' });
    expect(copied.current('outside')).toMatchObject({ content: 'outside' });
  });

  it('refuse one whose name another has by now, and keep the others', async () => {
    add('a', { name: 'one' });
    add('b', { name: 'two' });
    const copied = await copy();
    live.exec(`UPDATE sandboxes SET name = 'three' WHERE id = 'a'`);
    live.exec(`UPDATE sandboxes SET name = 'one' WHERE id = 'b'`);
    expect(copied.take('b')).toBe(false);
    copied.markLeftOut('b', 'Its name is taken.');
    copied.finish(9);
    expect(restored('id, name, state, state_reason')).toEqual([
      { id: 'a', name: 'one', state: 'stopped', state_reason: null },
      { id: 'b', name: 'two', state: 'error', state_reason: 'Its name is taken.' },
    ]);
  });

  it('lose a deadline that has passed at the restore, and keep one that has not', async () => {
    add('passed', { deadline: '{"at":1000,"action":"delete"}' });
    add('to come', { deadline: '{"at":1001,"action":"delete"}' });
    add('without');
    (await copy()).finish(9);
    countFromRestore(copyFile(), 1_000);
    expect(restored('id, deadline')).toEqual([
      { id: 'passed', deadline: null },
      { id: 'to come', deadline: '{"at":1001,"action":"delete"}' },
      { id: 'without', deadline: null },
    ]);
  });

  it('of a service that knew no deadlines are restored as they are', async () => {
    live.exec('ALTER TABLE sandboxes DROP COLUMN deadline');
    add('old', { stopped_at: 5 });
    (await copy()).finish(9);
    countFromRestore(copyFile(), 1_000);
    expect(restored('stopped_at')).toEqual([{ stopped_at: 1_000 }]);
  });

  it('let intervals count from the restore', async () => {
    add('old', { stopped_at: 5 });
    (await copy()).finish(9);
    countFromRestore(copyFile(), 1_000);
    expect(restored('stopped_at, last_activity_at')).toEqual([
      { stopped_at: 1_000, last_activity_at: 1_000 },
    ]);
  });
});
