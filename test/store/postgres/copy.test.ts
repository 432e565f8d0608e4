/** `sandhaven store copy`: a SQLite store arrives in PostgreSQL whole, in its order, or not at all. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Store } from '../../../src/control/ports/index.ts';
import { type DataDirectory, openDataDirectory } from '../../../src/store/data-directory.ts';
import { openSecrets } from '../../../src/store/files/secrets.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { connectionSettings } from '../../../src/store/postgres/pool.ts';
import { migrate } from '../../../src/store/postgres/schema.ts';
import { bin } from '../../support/service.ts';
import { authorization } from '../conformance/authorization-conformance.ts';
import { browserFlow, deviceFlow } from '../conformance/pending-authorization-conformance.ts';
import { secretRecord } from '../conformance/secret-conformance.ts';
import { alice, bob, poolRecord, sandboxRecord, temporaryDirectory } from '../fixtures.ts';
import { type PostgresServer, startPostgres } from './server.ts';

let server: PostgresServer;

let original: { path: string; whole: unknown };

beforeAll(async () => {
  server = await startPostgres();
  original = await fill();
}, 60_000);
afterAll(async () => {
  if (original) rmSync(original.path, { recursive: true });
  await server?.stop();
});

it('moves every row, and the service then keeps to PostgreSQL', async () => {
  const { data, whole } = filled();
  const to = await server.database();
  const { stdout } = await copy(data, to);
  expect(stdout).toContain('sandboxes: 252 rows\n');
  expect(stdout).toContain(`Copied. Start the service with --store ${to}\n`);
  expect(existsSync(data.databaseFile)).toBe(false);
  expect(existsSync(`${data.databaseFile}.copied`)).toBe(true);
  const secrets = openSecrets({ keyFile: data.secretKeyFile });
  const store = await openStore({ data, address: { url: to, password: null }, secrets });
  try {
    expect(await wholeOf(store)).toEqual(whole);
    // New rows come after the copied ones.
    await store.keys.add(alice.id, 'third', { name: 'third', createdAt: 1, expiresAt: null });
    expect((await store.keys.list(alice.id, { page: 1, pageSize: 1 })).keys[0]?.name).toBe('third');
  } finally {
    await store.close();
  }
  await expect(openStore({ data, address: null, secrets })).rejects.toMatchObject({
    code: 'failed_precondition',
    fields: { hint: expect.stringContaining('--store postgres://') },
  });
  await expect(copy(data, to)).rejects.toMatchObject({ code: 5 });
});

it('leaves the file in use when PostgreSQL refuses', async () => {
  const { data, whole } = filled();
  const foreign = await server.database();
  await server.query(foreign, 'CREATE TABLE bookmarks (url text)');
  await expect(copy(data, foreign)).rejects.toMatchObject({
    stderr: expect.stringContaining('another program'),
  });
  const secrets = openSecrets({ keyFile: data.secretKeyFile });
  const unchanged = await openStore({ data, address: null, secrets });
  expect(await wholeOf(unchanged)).toEqual(whole);
  await unchanged.close();
});

it('refuses the store of a stopped service, also from an old copy of its data directory', async () => {
  const { data } = filled();
  const old = temporaryDirectory();
  cpSync(data.path, old, { recursive: true });
  const to = await server.database();
  await copy(data, to);
  const secrets = openSecrets({ keyFile: data.secretKeyFile });
  const open = () => openStore({ data, address: { url: to, password: null }, secrets });
  const before = await open();
  await before.sandboxes.insert(sandboxRecord({ name: 'made since' }));
  const whole = await wholeOf(before);
  await before.close();
  await expect(copy(openDataDirectory(old), to)).rejects.toMatchObject({
    code: 5,
    stderr: expect.stringContaining('holds the store of a service already'),
  });
  const after = await open();
  expect(await wholeOf(after)).toEqual(whole);
  await after.close();
});

it('leaves nothing in the database when it is killed midway, and is then tried again', async () => {
  const { data, whole } = filled();
  const to = await server.database();
  const connection = new pg.Client(connectionSettings({ url: to, password: null }));
  await connection.connect();
  await migrate(connection);
  // The copy has written users when it comes to this table.
  await connection.query('BEGIN; LOCK TABLE registry_credentials');
  const first = execFile(bin, argumentsOf(data, to));
  const waits = `SELECT count(*) AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock'`;
  await expect.poll(() => server.query(to, waits), { timeout: 20_000 }).toEqual([{ count: '1' }]);
  first.kill('SIGKILL');
  await once(first, 'close');
  await connection.end();
  // The server has noticed that both are gone.
  const clients = `SELECT count(*) AS count FROM pg_stat_activity WHERE datname = current_database()
    AND backend_type = 'client backend' AND pid <> pg_backend_pid()`;
  await expect.poll(() => server.query(to, clients), { timeout: 20_000 }).toEqual([{ count: '0' }]);
  expect((await copy(data, to)).stdout).toContain('Copied.');
  const secrets = openSecrets({ keyFile: data.secretKeyFile });
  const store = await openStore({ data, address: { url: to, password: null }, secrets });
  expect(await wholeOf(store)).toEqual(whole);
  await store.close();
});

it('refuses a password in the address, and a service that runs', async () => {
  const { data } = filled();
  await expect(copy(data, 'postgres://a:canary@127.0.0.1/a')).rejects.toMatchObject({
    stderr: expect.stringContaining('PGPASSWORD'),
  });
  const { lockDataDirectory } = await import('../../../src/store/data-directory.ts');
  const lock = lockDataDirectory(data.path);
  await expect(copy(data, await server.database())).rejects.toMatchObject({ code: 5 });
  lock.release();
});

const run = promisify(execFile);

function copy(data: DataDirectory, to: string) {
  return run(bin, argumentsOf(data, to));
}

function argumentsOf({ path }: DataDirectory, to: string): string[] {
  return ['store', 'copy', '--to', to, '--data-dir', path];
}

/** A copy of the one filled data directory: each row of it waits for the host's disk, which others use, too. */
function filled(): { data: DataDirectory; whole: unknown } {
  const path = temporaryDirectory();
  cpSync(original.path, path, { recursive: true });
  return { data: openDataDirectory(path), whole: original.whole };
}

async function fill(): Promise<{ path: string; whole: unknown }> {
  const data = openDataDirectory(mkdtempSync(join(tmpdir(), 'sandhaven-store-')));
  const secrets = openSecrets({ keyFile: data.secretKeyFile });
  const store = await openStore({ data, address: null, secrets });
  await store.users.insertUser(alice);
  await store.users.insertUser(bob);
  for (let n = 0; n < 250; n++) {
    await store.sandboxes.insert(sandboxRecord({ envVars: { A: `${n}\0` }, stateReason: 'a \0 \u{F0000}' }));
  }
  await store.sandboxes.insert(poolRecord());
  const deadline = { at: 9_000, action: 'delete' } as const;
  const box = sandboxRecord({ labels: { '\ud800': '\0' }, deadline });
  await store.sandboxes.insert(box);
  for (const name of ['one', 'two'])
    await store.keys.add(alice.id, name, { name, createdAt: 1, expiresAt: null });
  await store.idempotency.put(alice.id, 'key', 'digest', { answer: 1 }, 1);
  await store.authorizations.put(authorization());
  await store.pendingAuthorizations.addBrowser(browserFlow(), 0);
  await store.pendingAuthorizations.addDevice(deviceFlow({ id: 'auth_device' }));
  await store.gitCredentials.put({ sandboxId: box.id, url: 'https://a/b', username: 'a', password: 'b' });
  await store.registryCredentials.put({ registry: 'r.example.org', username: 'a', password: 'b' }, 1);
  await store.serviceSecrets.getOrCreate('one', () => 'kept \u{F0000}');
  await store.secrets.insert(secretRecord(), 'value \u{F0000}');
  const whole = await wholeOf(store);
  await store.close();
  return { path: data.path, whole };
}

async function wholeOf(store: Store) {
  const page = { page: 1, pageSize: 100 };
  const boxes = await store.sandboxes.all();
  return {
    boxes,
    users: await store.users.listUsers(page),
    keys: await store.keys.list(null, page),
    answer: await store.idempotency.get(alice.id, 'key'),
    authorizations: await store.authorizations.list(alice.id),
    browser: await store.pendingAuthorizations.addBrowser(browserFlow({ id: 'auth_other' }), 0),
    device: await store.pendingAuthorizations.progress(deviceFlow({ id: 'auth_device' }), 0),
    git: await store.gitCredentials.get(boxes.at(-1)?.id ?? '', 'https://a/b'),
    registry: await store.registryCredentials.get('r.example.org'),
    secrets: await store.secrets.opened(alice.id, ['se_1']),
    secret: await store.serviceSecrets.getOrCreate('one', () => 'made anew'),
  };
}
