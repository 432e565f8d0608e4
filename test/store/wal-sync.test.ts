/** A write resolves when the disk has it, and the event loop goes on meanwhile. */
import { mkdirSync, renameSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import type { Log } from '../../src/control/ports/index.ts';
import { Database } from '../../src/store/sqlite/database.ts';
import { temporaryDirectory } from './fixtures.ts';

afterEach(() => vi.restoreAllMocks());

it('a write resolves after a sync that began once it was committed', async () => {
  const { insert } = newDatabase();
  await insert(0);
  const syncs = await heldSyncs();
  const done: number[] = [];
  const first = insert(1).then(() => done.push(1));
  await turn();
  const later = [insert(2), insert(3)].map((write, at) => write.then(() => done.push(2 + at)));
  await turn();
  expect(syncs.length).toBe(1);
  syncs[0]?.resolve();
  await first;
  await turn();
  expect(done).toEqual([1]);
  expect(syncs.length, 'one sync for the two that came meanwhile').toBe(2);
  syncs[1]?.resolve();
  await Promise.all(later);
  expect(syncs.length).toBe(2);
});

it('a write fails as its sync does, and the next one is synced again', async () => {
  const { database, insert } = newDatabase();
  await insert(0);
  const syncs = await heldSyncs();
  const write = insert(1);
  await turn();
  syncs[0]?.reject(new Error('EIO'));
  await expect(write).rejects.toThrow('EIO');
  const settled = database.settled();
  await turn();
  expect(syncs.length, 'who acts on it for good has it synced first').toBe(2);
  syncs[1]?.resolve();
  await settled;
  const next = insert(2);
  await turn();
  syncs[2]?.resolve();
  await next;
});

it('settled waits for the writes of others, and for nothing without them', async () => {
  const { database, insert } = newDatabase();
  await insert(0);
  await database.settled();
  const syncs = await heldSyncs();
  const write = insert(1);
  let settled = false;
  const waiting = database.settled().then(() => {
    settled = true;
  });
  await turn();
  expect(settled).toBe(false);
  syncs[0]?.resolve();
  await Promise.all([write, waiting]);
});

it('the log moves into the database by itself', async () => {
  const { file, insert } = newDatabase();
  const before = statSync(file).size;
  for (let number = 0; number < 1_100; number++) await insert(number, 'x'.repeat(200));
  await expect.poll(() => statSync(file).size, { timeout: 20_000 }).toBeGreaterThan(before + 1_000 * 200);
}, 60_000);

it('a checkpoint that fails is said, and writes go on', async () => {
  const said: string[] = [];
  const { file, database, insert } = newDatabase({ warn: (message) => void said.push(message) });
  await insert(0);
  // The thread opens the database by its name, which is gone.
  renameSync(file, `${file}.moved`);
  mkdirSync(file);
  for (let number = 1; number < 1_100; number++) await insert(number);
  await expect.poll(() => said, { timeout: 20_000 }).toEqual(['the database was not checkpointed']);
  expect(database.prepare('SELECT count(*) AS count FROM t').get()).toEqual({ count: 1_100 });
}, 60_000);

function newDatabase(log?: Pick<Log, 'warn'>) {
  const file = join(temporaryDirectory(), 'sandhaven.db');
  const database = new Database(file, log);
  onTestFinished(() => database.close());
  database.exec('CREATE TABLE t (a INTEGER PRIMARY KEY, content TEXT) STRICT');
  const statement = database.prepare('INSERT INTO t VALUES (:a, :content)');
  const insert = (a: number, content = '') => database.write(() => statement.run({ a, content }));
  return { file, database, insert };
}

/** From now on a sync ends when the test says so. */
async function heldSyncs(): Promise<PromiseWithResolvers<void>[]> {
  const any = await open(import.meta.filename);
  const prototype = Object.getPrototypeOf(any) as FileHandle;
  await any.close();
  const held: PromiseWithResolvers<void>[] = [];
  vi.spyOn(prototype, 'datasync').mockImplementation(() => {
    const sync = Promise.withResolvers<void>();
    held.push(sync);
    return sync.promise;
  });
  return held;
}
