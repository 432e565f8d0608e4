/** The SQLite store: the port's conformance, and what is true of this implementation alone. */
import { existsSync, readdirSync, readFileSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../src/control/ports/index.ts';
import { secretsOf } from '../../src/store/files/secrets.ts';
import { Database } from '../../src/store/sqlite/database.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { authorization, authorizationConformance } from './conformance/authorization-conformance.ts';
import { storeConformance } from './conformance/conformance.ts';
import {
  browserFlow,
  deviceFlow,
  expectOldestGone,
  fillPending,
  pendingAuthorizationConformance,
} from './conformance/pending-authorization-conformance.ts';
import { propertyConformance } from './conformance/property-conformance.ts';
import { secretRecord } from './conformance/secret-conformance.ts';
import { snapshotConformance } from './conformance/snapshot-conformance.ts';
import { removesWhatNamesAUser } from './deleted-rows.ts';
import { alice, bob, poolRecord, sandboxRecord, temporaryDirectory } from './fixtures.ts';
import { memoryStore } from './memory/memory-store.ts';

const secrets = secretsOf(Buffer.alloc(32, 1));
/** Where there is room: no test here waits for a disk, and what a disk keeps is shown by `crash` and `wal-sync`. */
const inMemory = hasRoom('/dev/shm') ? '/dev/shm' : undefined;

const suites = [
  storeConformance,
  snapshotConformance,
  authorizationConformance,
  pendingAuthorizationConformance,
];
for (const conformance of suites) {
  describe('the port', () => conformance('SQLite', () => openSqliteStore({ file: newFile(), secrets })));
  describe('the port', () => conformance('the model in memory', async () => memoryStore()));
}
removesWhatNamesAUser('SQLite', () => openSqliteStore({ file: newFile(), secrets }));
propertyConformance('SQLite', {
  runs: 150,
  place: async () => newFile(),
  open: (file) => openSqliteStore({ file, secrets }),
});

describe('the database file', () => {
  it('is readable by its owner only, with what SQLite puts beside it', async () => {
    const { file } = await openWithUser();
    const directory = join(file, '..');
    const names = readdirSync(directory).sort();
    expect(names).toEqual(['sandhaven.db', 'sandhaven.db-shm', 'sandhaven.db-wal']);
    for (const name of names) expect(statSync(join(directory, name)).mode & 0o777, name).toBe(0o600);
  });

  it('is in WAL mode, whose log SQLite syncs where it begins anew', () => {
    const database = new Database(newFile());
    onTestFinished(() => database.close());
    const pragma = (name: string) => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
    expect(pragma('journal_mode')).toBe('wal');
    expect(pragma('synchronous')).toBe(1);
    expect(pragma('wal_autocheckpoint')).toBe(0);
    expect(pragma('foreign_keys')).toBe(1);
    expect(pragma('busy_timeout')).toBe(1_000);
  });

  it('holds everything after it is closed and opened again', async () => {
    const { file, store } = await openWithUser();
    const box = sandboxRecord({ envVars: { A: '1' } });
    await store.sandboxes.insert(box);
    await store.keys.add(alice.id, 'key', { name: 'one', createdAt: 1, expiresAt: null });
    await store.close();
    const again = await open(file);
    expect(await again.sandboxes.get(box.id)).toEqual(box);
    expect(await again.keys.callerOf('key', 2)).toMatchObject({ id: alice.id, role: 'admin' });
  });

  it('is refused with a reason when it is damaged', async () => {
    const file = newFile();
    writeFileSync(file, 'this is not a database, however long it may be made to be '.repeat(40));
    await expect(openSqliteStore({ file, secrets })).rejects.toMatchObject({
      code: 'failed_precondition',
      message: expect.stringContaining('damaged'),
    });
  });

  it('takes no sandbox of an unknown user', async () => {
    const { store } = await openWithUser();
    await expect(store.sandboxes.insert(sandboxRecord({ ownerId: 'user_none' }))).rejects.toThrow(/FOREIGN/);
  });

  it('drops the oldest authorization under way when there are 10,000', async () => {
    const { file, store } = await openWithUser();
    await store.users.insertUser(bob);
    tamper(file, fillPending);
    await expectOldestGone(store);
  });

  it('takes no value outside the model', async () => {
    const { store } = await openWithUser();
    for (const wrong of [{ state: 'sleeping' }, { generation: 1.5 }, { createdAt: Number.NaN }]) {
      await expect(store.sandboxes.insert(sandboxRecord(wrong as object))).rejects.toThrow();
    }
    expect(await store.sandboxes.all()).toEqual([]);
  });

  it('is claimed from once, also by two processes’ worth of connections', async () => {
    const { file, store } = await openWithUser();
    const other = await open(file);
    for (let n = 0; n < 6; n++) await store.sandboxes.insert(poolRecord());
    const claims = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        (n % 2 ? store : other).sandboxes.claim(
          { imageDigest: 'sha256:base', diskGb: 20 },
          { ownerId: alice.id, name: `n${n}` },
        ),
      ),
    );
    const claimed = claims.flatMap((sandbox) => (sandbox ? [sandbox.id] : []));
    expect(new Set(claimed).size).toBe(6);
    expect(claimed).toHaveLength(6);
  });
});

describe('a write that cannot be made', () => {
  it('reports that the disk is full, leaves nothing, and works again when there is room', async () => {
    const file = newFile();
    const database = new Database(file);
    onTestFinished(() => database.close());
    database.exec('CREATE TABLE filler (content TEXT) STRICT; PRAGMA max_page_count = 20;');
    const insert = database.prepare('INSERT INTO filler VALUES (:content)');
    const write = () => database.write(() => insert.run({ content: 'x'.repeat(200_000) }));
    await expect(write()).rejects.toMatchObject({ code: 'resource_exhausted' });
    expect(database.prepare('SELECT count(*) AS count FROM filler').get()).toEqual({ count: 0 });
    database.exec('PRAGMA max_page_count = 1000');
    await write();
    expect(database.prepare('SELECT count(*) AS count FROM filler').get()).toEqual({ count: 1 });
  });

  it('is unavailable while another process holds the database, and is not made later', async () => {
    const { file, store } = await openWithUser();
    const other = new DatabaseSync(file);
    onTestFinished(() => other.close());
    other.exec('BEGIN IMMEDIATE');
    const box = sandboxRecord();
    await expect(store.sandboxes.insert(box)).rejects.toMatchObject({ code: 'unavailable' });
    other.exec('COMMIT');
    expect(await store.sandboxes.get(box.id)).toBeNull();
    await store.sandboxes.insert(box);
  });

  it('undoes all of a transaction that fails in the middle', async () => {
    const database = new Database(newFile());
    onTestFinished(() => database.close());
    database.exec('CREATE TABLE t (a INTEGER PRIMARY KEY) STRICT');
    const insert = database.prepare('INSERT INTO t VALUES (:a)');
    const twice = () => {
      insert.run({ a: 1 });
      insert.run({ a: 1 });
    };
    await expect(database.write(twice)).rejects.toThrow(/UNIQUE/);
    expect(database.prepare('SELECT count(*) AS count FROM t').get()).toEqual({ count: 0 });
  });
});

describe('secrets in the database', () => {
  const canary = 'canary-7f3a91c2';

  it('are in none of its files: env vars, keys, secrets, answers', async () => {
    const { file, store } = await openWithUser();
    const box = sandboxRecord({ envVars: { SECRET: canary } });
    await store.sandboxes.insert(box);
    await store.sandboxes.update(box.id, 1, { envVars: { OTHER: `${canary}-2` } });
    await store.sandboxes.insert(poolRecord());
    await store.sandboxes.claim(
      { imageDigest: 'sha256:base', diskGb: 20 },
      { ownerId: alice.id, name: 'claimed', envVars: { SECRET: `${canary}-3` } },
    );
    await store.keys.add(alice.id, `${canary}-4`, { name: 'one', createdAt: 1, expiresAt: null });
    await store.serviceSecrets.getOrCreate('one', () => `${canary}-7`);
    await store.secrets.insert(secretRecord(), `${canary}-8`);
    await store.secrets.rotate('se_1', `${canary}-9`, {}, 2);
    await store.idempotency.put(alice.id, 'key', `${canary}-5`, { answer: `${canary}-6` }, 1);
    const seen = () =>
      readdirSync(join(file, '..')).filter((name) => readFileSync(join(file, '..', name)).includes(canary));
    expect(seen()).toEqual([]);
    await store.close();
    expect(seen()).toEqual([]);
    expect(readFileSync(file).includes('claimed')).toBe(true);
  });

  it('[WIRE-GIT-14] are in none of its files: tokens of a code-hosting provider', async () => {
    const { file, store } = await openWithUser();
    await store.authorizations.put(authorization());
    await store.pendingAuthorizations.addBrowser(browserFlow(), 0);
    await store.pendingAuthorizations.addDevice(deviceFlow({ id: 'auth_device' }));
    const bytes = Buffer.concat([readFileSync(file), readFileSync(`${file}-wal`)]).toString('latin1');
    expect(bytes).toContain('alice-at-work');
    expect(bytes).toContain('auth_device');
    expect(bytes).not.toContain('canary-');
  });

  it('do not open with another key: the store refuses to start', async () => {
    const { file, store } = await openWithUser();
    await store.sandboxes.insert(sandboxRecord({ envVars: { SECRET: canary } }));
    await store.close();
    const other = secretsOf(Buffer.alloc(32, 2));
    await expect(openSqliteStore({ file, secrets: other })).rejects.toMatchObject({
      code: 'failed_precondition',
    });
    await (await open(file)).close();
  });

  it('do not open when they were moved to another row or changed', async () => {
    const { file, store } = await openWithUser();
    const [a, b, c] = [sandboxRecord({ envVars: { A: canary } }), sandboxRecord(), sandboxRecord()];
    for (const box of [a, b, c]) await store.sandboxes.insert(box);
    tamper(
      file,
      `UPDATE sandboxes SET env_vars = (SELECT env_vars FROM sandboxes WHERE id = '${a.id}')
      WHERE id = '${b.id}'`,
    );
    await expect(store.sandboxes.get(b.id)).rejects.toThrow('env_vars');
    await expect(store.sandboxes.all()).rejects.toThrow('env_vars');
    expect(await store.sandboxes.get(a.id)).toEqual(a);
    expect(await store.sandboxes.get(c.id)).toEqual(c);
    expect(await store.sandboxes.schedulable()).toHaveLength(3);
  });

  it.each([
    ['labels', '[]'],
    ['labels', '{"a":1}'],
    ['labels', 'null'],
    ['labels', '{'],
    ['resources', '{"cpu":1}'],
    ['resources', '{"cpu":1.5,"memory":1,"disk":1,"gpu":0}'],
    ['entrypoint', '"sh"'],
    ['resize_target', '[]'],
    ['deadline', '{"at":1}'],
    ['deadline', '{"at":1,"action":"pause"}'],
    ['sleep', '{"afterSeconds":1}'],
    ['sleep', '{"afterSeconds":"1","wakes":true}'],
    ['archive', '{"digest":"a"}'],
    ['archive', '{"store":"s3","digest":"a","hmac":"b","sizeBytes":1}'],
    ['archive', '{"store":"tape","digest":"a","hmac":"b","sizeBytes":1}'],
    ['archive', '{"store":"local","bucket":"b","digest":"a","hmac":"b","sizeBytes":1}'],
  ])('a column %s that reads %s is refused, not passed on', async (column, value) => {
    const { file, store } = await openWithUser();
    const box = sandboxRecord();
    await store.sandboxes.insert(box);
    tamper(file, `UPDATE sandboxes SET ${column} = '${value}'`);
    await expect(store.sandboxes.get(box.id)).rejects.toThrow(column);
  });

  it('reads the archive of a row from before archives had a place as one on this host', async () => {
    const { file, store } = await openWithUser();
    const box = sandboxRecord({ state: 'archived' });
    await store.sandboxes.insert(box);
    tamper(file, `UPDATE sandboxes SET archive = '{"digest":"a","hmac":"b","sizeBytes":1}'`);
    const archive = { store: 'local', digest: 'a', hmac: 'b', sizeBytes: 1 };
    expect((await store.sandboxes.get(box.id))?.archive).toEqual(archive);
    expect(await store.sandboxes.archives('', 9)).toEqual([{ id: box.id, archive }]);
  });
});

function newFile(): string {
  return join(temporaryDirectory(inMemory), 'sandhaven.db');
}

function hasRoom(folder: string): boolean {
  if (!existsSync(folder)) return false;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize > 1024 ** 3;
}

async function open(file: string): Promise<Store> {
  const store = await openSqliteStore({ file, secrets });
  onTestFinished(() => store.close());
  return store;
}

async function openWithUser(): Promise<{ file: string; store: Store }> {
  const file = newFile();
  const store = await open(file);
  await store.users.insertUser(alice);
  return { file, store };
}

function tamper(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}
