/** The PostgreSQL store while its server fails: typed errors, nothing half-made, and work that goes on afterwards. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../../src/control/ports/index.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import { secretsOf } from '../../../src/store/files/secrets.ts';
import { openPostgresStore } from '../../../src/store/postgres/store.ts';
import { alice, sandboxRecord } from '../fixtures.ts';
import { type PostgresServer, startPostgres } from './server.ts';

const secrets = secretsOf(Buffer.alloc(32, 1));
let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterAll(() => server?.stop());

it('a server that crashes and comes back costs typed errors meanwhile, and nothing that was acknowledged', async () => {
  const { store } = await openWithUser();
  const [acknowledged, refused] = [new Set<string>(), new Set<string>()];
  let stop = false;
  const write = async () => {
    while (!stop) {
      const box = sandboxRecord();
      try {
        await store.sandboxes.insert(box);
        acknowledged.add(box.id);
      } catch (error) {
        expect(error).toBeInstanceOf(SandhavenError);
        expect(error).toMatchObject({ code: 'unavailable' });
        refused.add(box.id);
        await pause(20);
      }
    }
  };
  const writers = [write(), write(), write()];
  for (let crash = 0; crash < 2; crash++) {
    await pause(200);
    await server.kill();
    await pause(200);
    await server.start();
    await untilWritable(store);
  }
  stop = true;
  await Promise.all(writers);
  const stored = new Set((await store.sandboxes.all()).map(({ id }) => id));
  expect([...acknowledged].filter((id) => !stored.has(id))).toEqual([]);
  expect(refused.size).toBeGreaterThan(0);
  expect(acknowledged.size).toBeGreaterThan(0);
});

it('connections ended by an administrator cost typed errors for a moment', async () => {
  const { url, store } = await openWithUser();
  await server.query(
    url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sandhaven'`,
  );
  let refused = 0;
  for (let n = 0; n < 100; n++) {
    try {
      await store.sandboxes.insert(sandboxRecord());
    } catch (error) {
      expect(error).toMatchObject({ code: 'unavailable' });
      refused += 1;
    }
    await pause(10);
  }
  expect(refused).toBeLessThan(100);
  expect(await store.sandboxes.all()).toHaveLength(100 - refused);
  await store.sandboxes.insert(sandboxRecord());
});

it('a statement waits for another’s lock, and leaves no transaction open', async () => {
  const { url, store } = await openWithUser();
  const box = sandboxRecord();
  await store.sandboxes.insert(box);
  const held = server.query(url, `BEGIN; UPDATE sandboxes SET name = 'held'; SELECT pg_sleep(1); ROLLBACK`);
  await pause(100);
  expect(await store.sandboxes.update(box.id, 1, { name: 'changed' })).toMatchObject({ name: 'changed' });
  await held;
  const open = `SELECT count(*) AS count FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'`;
  expect(await server.query(url, open)).toEqual([{ count: '0' }]);
});

async function untilWritable(store: Store): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    try {
      await store.users.updateUser(alice.id, () => ({}));
      return;
    } catch {
      await pause(50);
    }
  }
  throw new Error('the store did not come back');
}

async function openWithUser(): Promise<{ url: string; store: Store }> {
  const url = await server.database();
  const store = await openPostgresStore({ address: { url, password: null }, secrets });
  onTestFinished(() => store.close());
  await store.users.insertUser(alice);
  return { url, store };
}
