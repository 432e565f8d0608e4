/** The PostgreSQL store: the port's conformance, and what is true of this implementation alone. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../../src/control/ports/index.ts';
import { secretsOf } from '../../../src/store/files/secrets.ts';
import { openPool } from '../../../src/store/postgres/pool.ts';
import { postgresSql } from '../../../src/store/postgres/sql.ts';
import { openPostgresStore } from '../../../src/store/postgres/store.ts';
import { openRows } from '../../../src/store/rows/open-rows.ts';
import { migrations } from '../../../src/store/sql/schema.ts';
import { authorization, authorizationConformance } from '../conformance/authorization-conformance.ts';
import { storeConformance } from '../conformance/conformance.ts';
import {
  browserFlow,
  deviceFlow,
  expectOldestGone,
  fillPending,
  pendingAuthorizationConformance,
} from '../conformance/pending-authorization-conformance.ts';
import { propertyConformance } from '../conformance/property-conformance.ts';
import { secretRecord } from '../conformance/secret-conformance.ts';
import { snapshotConformance } from '../conformance/snapshot-conformance.ts';
import { removesWhatNamesAUser } from '../deleted-rows.ts';
import { alice, bob, poolRecord, sandboxId, sandboxRecord } from '../fixtures.ts';
import { type PostgresServer, startPostgres } from './server.ts';

const secrets = secretsOf(Buffer.alloc(32, 1));
let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterAll(() => server?.stop());

const suites = [
  storeConformance,
  snapshotConformance,
  authorizationConformance,
  pendingAuthorizationConformance,
];
for (const conformance of suites) {
  describe('the port', () => conformance('PostgreSQL', async () => open(await emptyDatabase())));
}
removesWhatNamesAUser('PostgreSQL', async () => open(await emptyDatabase()));
propertyConformance('PostgreSQL', { runs: 60, place: emptyDatabase, open });

describe('the database', () => {
  it('is refused with a reason when another service uses it, and free when that one has closed', async () => {
    const { url, store } = await openWithUser();
    await expect(open(url)).rejects.toMatchObject({
      code: 'failed_precondition',
      message: 'Another service uses this database.',
    });
    await store.close();
    await (await open(url)).close();
  });

  it.each([['does not exist', 'none', 'PostgreSQL has no such database.']])(
    'is refused in words when it %s',
    async (_, name, message) => {
      const url = (await server.database()).replace(/store_\d+$/, name);
      await expect(open(url)).rejects.toMatchObject({ code: 'failed_precondition', message });
    },
  );

  it('is unavailable when nobody listens', async () => {
    await expect(open('postgres://a@127.0.0.1:1/a')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('is refused when it has tables of another program, and stays as it was', async () => {
    const url = await server.database();
    await server.query(url, 'CREATE TABLE bookmarks (url text)');
    await expect(open(url)).rejects.toMatchObject({ code: 'failed_precondition' });
    const tables = `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`;
    expect(await server.query(url, tables)).toEqual([{ name: 'bookmarks' }]);
  });

  it('is refused when a newer service wrote it', async () => {
    const { url, store } = await openWithUser();
    await store.close();
    await server.query(url, 'UPDATE sandhaven_schema SET version = 1000');
    await expect(open(url)).rejects.toMatchObject({
      code: 'failed_precondition',
      message: `The database has schema version 1000; this service knows versions up to ${migrations.length}.`,
      fields: { hint: expect.stringContaining('newer service') },
    });
  });

  it('does not open with another key', async () => {
    const { url, store } = await openWithUser();
    await store.close();
    const other = secretsOf(Buffer.alloc(32, 2));
    await expect(
      openPostgresStore({ address: { url, password: null }, secrets: other }),
    ).rejects.toMatchObject({ code: 'failed_precondition' });
    await (await open(url)).close();
  });

  it('takes no sandbox of an unknown user, and no value outside the model', async () => {
    const { store } = await openWithUser();
    await expect(store.sandboxes.insert(sandboxRecord({ ownerId: 'user_none' }))).rejects.toThrow(/foreign/);
    for (const wrong of [{ state: 'sleeping' }, { generation: 1.5 }, { createdAt: Number.NaN }]) {
      await expect(store.sandboxes.insert(sandboxRecord(wrong as object))).rejects.toThrow();
    }
    expect(await store.sandboxes.all()).toEqual([]);
  });

  it('drops the oldest authorization under way when there are 10,000', async () => {
    const { url, store } = await openWithUser();
    await store.users.insertUser(bob);
    await server.query(url, fillPending);
    await expectOldestGone(store);
  });

  it('orders names by their bytes, whatever its collation', async () => {
    const { store } = await openWithUser();
    for (const name of ['a', 'B', 'é', 'Z', '_']) await store.sandboxes.insert(sandboxRecord({ name }));
    const names = (await store.sandboxes.names(alice.id, 10)).map(({ name }) => name);
    expect(names).toEqual(['B', 'Z', '_', 'a', 'é']);
  });

  it('holds no secret in plain', async () => {
    const { store } = await openWithUser();
    await store.sandboxes.insert(sandboxRecord({ envVars: { SECRET: 'canary-1' } }));
    await store.keys.add(alice.id, 'canary-2', { name: 'one', createdAt: 1, expiresAt: null });
    await store.idempotency.put(alice.id, 'key', 'canary-3', { answer: 'canary-4' }, 1);
    await store.authorizations.put(authorization());
    await store.serviceSecrets.getOrCreate('one', () => 'canary-5');
    await store.secrets.insert(secretRecord(), 'canary-6');
    await store.secrets.rotate('se_1', 'canary-7', {}, 2);
    await store.pendingAuthorizations.addBrowser(browserFlow(), 0);
    await store.pendingAuthorizations.addDevice(deviceFlow({ id: 'auth_device' }));
    expect(server.filesWith('canary-')).toBe('');
    expect(server.filesWith('alice-at-work')).not.toBe('');
  });
});

describe('callers at once', () => {
  it('get one secret of the service, also from several replicas', async () => {
    const { url } = await openWithUser();
    const replicas = await Promise.all(
      [1, 2, 3].map(() => {
        const pool = openPool({ url, password: null });
        return openRows(
          postgresSql(pool, () => {}),
          secrets,
        );
      }),
    );
    for (const replica of replicas) onTestFinished(() => replica.close());
    const made = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        replicas[n % 3]?.serviceSecrets.getOrCreate('shared', () => `secret ${n}`),
      ),
    );
    expect(made[0]).toMatch(/^secret \d+$/);
    expect(new Set(made).size).toBe(1);
  });

  it('claim each sandbox of the pool once', async () => {
    const { store } = await openWithUser();
    await store.users.insertUser(bob);
    for (let n = 0; n < 20; n++) await store.sandboxes.insert(poolRecord());
    const match = { imageDigest: 'sha256:base', diskGb: 20 };
    const claims = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        store.sandboxes.claim(match, { ownerId: n % 2 ? alice.id : bob.id, name: `n${n}` }),
      ),
    );
    const claimed = claims.flatMap((sandbox) => (sandbox ? [sandbox.id] : []));
    expect(new Set(claimed).size).toBe(20);
    expect(claimed).toHaveLength(20);
  });

  it('never exceed a quota together', async () => {
    const { store } = await openWithUser();
    const quota = { sandboxes: 5, cpu: null, memory: null, disk: null, snapshots: null };
    const made = await Promise.allSettled(
      Array.from({ length: 20 }, () => store.sandboxes.insert(sandboxRecord(), { ownerId: alice.id, quota })),
    );
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    expect(await store.sandboxes.all()).toHaveLength(5);
  });

  it('never leave the service without an admin', async () => {
    const { store } = await openWithUser();
    await store.users.insertUser({ ...bob, role: 'admin' });
    const demoted = await Promise.allSettled(
      [alice.id, bob.id].map((id) => store.users.updateUser(id, () => ({ role: 'member' }))),
    );
    expect(demoted.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('change one generation once', async () => {
    const { store } = await openWithUser();
    const box = sandboxRecord();
    await store.sandboxes.insert(box);
    const changes = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        store.sandboxes.update(box.id, 1, { generation: 2, name: `n${n}` }),
      ),
    );
    expect(changes.filter((changed) => changed !== null)).toHaveLength(1);
  });

  it('note the use of many sandboxes in any order', async () => {
    const { store } = await openWithUser();
    const ids = Array.from({ length: 40 }, (_, n) => sandboxId(n + 1_000));
    for (const id of ids) await store.sandboxes.insert(sandboxRecord({ id }));
    const orders = Array.from({ length: 10 }, (_, n) => (n % 2 ? ids : ids.toReversed()));
    await Promise.all(
      orders.map((order, n) => store.sandboxes.touch(new Map(order.map((id) => [id, 2_000 + n])))),
    );
    expect((await store.sandboxes.all()).map(({ lastActivityAt }) => lastActivityAt)).toEqual(
      ids.map(() => 2_009),
    );
  });
});

let shared: string | undefined;

/** One database for many tests: a new one takes half a second. */
async function emptyDatabase(): Promise<string> {
  shared ??= await server.database();
  const tables = await server.query(
    shared,
    `SELECT string_agg(table_name, ', ') AS all FROM information_schema.tables
     WHERE table_schema = 'public' AND table_name <> 'sandhaven_schema'`,
  );
  const all = tables[0]?.['all'];
  if (all !== null) await server.query(shared, `TRUNCATE ${all} RESTART IDENTITY`);
  return shared;
}

async function open(url: string): Promise<Store> {
  return openPostgresStore({ address: { url, password: null }, secrets });
}

async function openWithUser(): Promise<{ url: string; store: Store }> {
  const url = await server.database();
  const store = await open(url);
  onTestFinished(() => store.close());
  await store.users.insertUser(alice);
  return { url, store };
}
