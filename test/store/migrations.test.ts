/** The steps of the schema: each old file comes to the newest version, and no other file is touched. */
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { secretsOf } from '../../src/store/files/secrets.ts';
import { type Migration, migrations } from '../../src/store/sql/schema.ts';
import { Database } from '../../src/store/sqlite/database.ts';
import { dropWebhookTriggers, migrate, openSqliteStore } from '../../src/store/sqlite/store.ts';
import { alice, sandboxRecord, temporaryDirectory } from './fixtures.ts';

const secrets = secretsOf(Buffer.alloc(32, 1));
const newest = migrations.length;

describe('migrations', () => {
  it('are numbered from 1 without gaps', () => {
    expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, index) => index + 1));
  });

  it.each(Array.from({ length: newest + 1 }, (_, version) => version))(
    'bring a file of version %i to the newest, ready for use',
    async (version) => {
      const { file, database } = newDatabase();
      migrate(database, migrations.slice(0, version));
      const schemaBefore = version === newest ? schemaOf(database) : null;
      database.close();
      const store = await openSqliteStore({ file, secrets });
      onTestFinished(() => store.close());
      await store.users.insertUser(alice);
      const box = sandboxRecord();
      await store.sandboxes.insert(box);
      expect(await store.sandboxes.get(box.id)).toEqual(box);
      const again = new Database(file);
      onTestFinished(() => again.close());
      expect(userVersion(again)).toBe(newest);
      if (schemaBefore) expect(schemaOf(again)).toEqual(schemaBefore);
    },
  );

  it('lead to one schema, whether taken one by one or at once', () => {
    const oneByOne = newDatabase().database;
    for (const { version } of migrations) migrate(oneByOne, migrations.slice(0, version));
    const atOnce = newDatabase().database;
    migrate(atOnce);
    expect(schemaOf(oneByOne)).toEqual(schemaOf(atOnce));
  });

  it('leave the file at the last whole step when one fails', () => {
    const { database } = newDatabase();
    const steps: Migration[] = [
      { version: 1, sql: 'CREATE TABLE one (a TEXT) STRICT;' },
      { version: 2, sql: 'CREATE TABLE two (a TEXT) STRICT; INSERT INTO nowhere VALUES (1);' },
    ];
    expect(() => migrate(database, steps)).toThrow(/nowhere/);
    expect(userVersion(database)).toBe(1);
    expect(schemaOf(database)).toHaveLength(1);
    const repaired = [steps[0], { version: 2, sql: 'CREATE TABLE two (b TEXT) STRICT;' }] as Migration[];
    migrate(database, repaired);
    expect(userVersion(database)).toBe(2);
  });

  it('refuse a file of a newer service, in words, and leave it as it is', async () => {
    const { file, database } = newDatabase();
    migrate(database, [...migrations, { version: newest + 1, sql: 'CREATE TABLE later (a TEXT) STRICT;' }]);
    const before = schemaOf(database);
    await expect(openSqliteStore({ file, secrets })).rejects.toMatchObject({
      code: 'failed_precondition',
      message: `The database has schema version ${newest + 1}; this service knows versions up to ${newest}.`,
      fields: { hint: expect.stringContaining('newer service') },
    });
    expect(schemaOf(database)).toEqual(before);
  });

  it('refuse the database of another program', async () => {
    const { file, database } = newDatabase();
    database.exec('CREATE TABLE bookmarks (url TEXT)');
    await expect(openSqliteStore({ file, secrets })).rejects.toMatchObject({ code: 'failed_precondition' });
    expect(schemaOf(database)).toHaveLength(1);
  });
});

describe('the step of viewers and teams', () => {
  it('keeps users with their roles, and all that refers to them', () => {
    const { database } = newDatabase();
    migrate(database, migrations.slice(0, 11));
    database.exec(`
      INSERT INTO users (id, name, email, role) VALUES ('user_a', 'A', 'a@x', 'admin'), ('user_b', 'B', 'b@x', 'member');
      INSERT INTO api_keys (hash, selector, user_id) VALUES (zeroblob(32), zeroblob(8), 'user_b');
      INSERT INTO provider_authorizations VALUES
        ('auth_1', 'user_a', 'p', '1', 'a', '', x'00', NULL, NULL, NULL, 1, 1, NULL);
      INSERT INTO sign_in_links VALUES (x'01', 'user_b', 5);
    `);
    migrate(database);
    const rows = (sql: string) =>
      database
        .prepare(sql)
        .all()
        .map((row) => Object.values(row));
    expect(rows('SELECT id, email, role, kind FROM users ORDER BY sequence')).toEqual([
      ['user_a', 'a@x', 'admin', 'person'],
      ['user_b', 'b@x', 'member', 'person'],
    ]);
    expect(rows('SELECT user_id, team_id FROM api_keys')).toEqual([['user_b', null]]);
    expect(rows('SELECT user_id FROM provider_authorizations')).toEqual([['user_a']]);
    expect(rows('SELECT user_id FROM sign_in_links')).toEqual([['user_b']]);
    expect(rows('PRAGMA foreign_key_check')).toEqual([]);
    database.exec(`UPDATE users SET role = 'viewer' WHERE id = 'user_b'`);
    expect(() => database.exec(`UPDATE users SET role = 'king'`)).toThrow(/CHECK/);
  });
});

describe('the step of ways in', () => {
  it('takes for users who came in those who have used a key, or left something', () => {
    const { database } = newDatabase();
    migrate(database, migrations.slice(0, 22));
    // Those of this service name columns of later steps.
    dropWebhookTriggers(database);
    database.exec(`
      INSERT INTO users (id, name, email, created_at) VALUES ('used', 'A', 'a@x', 7), ('unused', 'B', 'b@x', 7),
        ('linked', 'C', 'c@x', 7), ('password', 'D', 'd@x', 7), ('snapshot', 'E', 'e@x', 7), ('nothing', 'F', 'f@x', 7);
      INSERT INTO users (id, name, email, kind) VALUES ('team', 'T', 'team', 'team');
      INSERT INTO api_keys (hash, selector, user_id, last_used_at, revoked_at) VALUES
        (zeroblob(32), zeroblob(8), 'unused', NULL, NULL), (randomblob(32), zeroblob(8), 'used', 5, 6);
      INSERT INTO identities VALUES ('i', 's', 'linked', 5);
      INSERT INTO passwords VALUES ('password', 5, '[]', x'00');
      INSERT INTO snapshots (id, owner_id, name, state, image, resources, region_id, created_at, updated_at) VALUES
        ('sn_1', 'snapshot', 'x', 'active', 'i', '{}', 'r', 1, 1), ('sn_2', 'team', 'x', 'active', 'i', '{}', 'r', 1, 1);
    `);
    migrate(database);
    const rows = database.prepare('SELECT id, entered_at FROM users ORDER BY sequence').all();
    expect(rows.map((row) => Object.values(row))).toEqual([
      ...[['used', 7], ['unused', null], ['linked', null], ['password', 7], ['snapshot', 7]], // biome-ignore format: pairs
      ...[['nothing', null], ['team', null]], // biome-ignore format: pairs
    ]);
  });
});

describe('the step of networks', () => {
  it('leaves the network of sandboxes of before open', async () => {
    const { database } = newDatabase();
    migrate(database, migrations.slice(0, 18));
    insertSandbox(database);
    migrate(database);
    expect(database.prepare('SELECT network FROM sandboxes').get()).toEqual({
      network: '{"mode":"open","profiles":[],"allow":[]}',
    });
    expect(() => database.exec('UPDATE sandboxes SET network = NULL')).toThrow(/NOT NULL/);
  });
});

describe('the step of Linux users', () => {
  it('leaves root the user of sandboxes and snapshots of before', () => {
    const { database } = newDatabase();
    migrate(database, migrations.slice(0, 26));
    insertSandbox(database);
    database.exec(`
      INSERT INTO snapshots (id, owner_id, name, state, image, resources, region_id, created_at, updated_at)
      VALUES ('snap_1', 'user_a', 'old', 'active', 'i', '{}', 'r', 1, 1);
    `);
    migrate(database);
    const rows = database.prepare(
      'SELECT id, linux_user FROM sandboxes UNION ALL SELECT id, linux_user FROM snapshots',
    );
    expect(rows.all()).toEqual([
      { id: 'sb_1', linux_user: null },
      { id: 'snap_1', linux_user: null },
    ]);
  });
});

describe('the step of deadlines', () => {
  it('gives sandboxes of before none', () => {
    const { database } = newDatabase();
    migrate(database, migrations.slice(0, 28));
    insertSandbox(database);
    migrate(database);
    expect(database.prepare('SELECT id, deadline FROM sandboxes').all()).toEqual([
      { id: 'sb_1', deadline: null },
    ]);
  });
});

describe('the step of sleep', () => {
  it('gives sandboxes of before no settings', () => {
    const { database } = newDatabase();
    migrate(database, migrations.slice(0, 29));
    insertSandbox(database);
    migrate(database);
    expect(database.prepare('SELECT id, sleep FROM sandboxes').all()).toEqual([{ id: 'sb_1', sleep: null }]);
  });
});

function insertSandbox(database: Database): void {
  database.exec(`
      INSERT INTO users (id, name, email) VALUES ('user_a', 'A', 'a@x');
      INSERT INTO sandboxes (id, owner_id, name, state, generation, language, auto_stop_minutes, auto_archive_minutes,
        auto_delete_minutes, ephemeral, created_at, updated_at, last_activity_at, region_id, image, image_digest,
        resources, labels, env_vars)
      VALUES ('sb_1', 'user_a', 'old', 'stopped', 1, 'python', 15, 15, -1, 0, 1, 1, 1, 'local', 'base', 'sha256:1',
        '{"cpu":1,"memory":1,"disk":1,"gpu":0}', '{}', x'00');
    `);
}

function newDatabase(): { file: string; database: Database } {
  const file = join(temporaryDirectory(), 'sandhaven.db');
  const database = new Database(file);
  onTestFinished(() => database.close());
  return { file, database };
}

function userVersion(database: Database): unknown {
  return database.prepare('PRAGMA user_version').get()?.['user_version'];
}

function schemaOf(database: Database): unknown[] {
  return database.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name').all();
}
