/** The connections of the store: one user who floods it with slow statements leaves connections for the others. */
import pg from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { secretsOf } from '../../../src/store/files/secrets.ts';
import { openPostgresStore } from '../../../src/store/postgres/store.ts';
import { alice, bob, sandboxRecord } from '../fixtures.ts';
import { type PostgresServer, startPostgres } from './server.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterAll(() => server?.stop());

it('one user’s slow statements take four connections, and the others go on', async () => {
  const { url, store, release } = await slowForAlice();
  const flood = Array.from({ length: 40 }, () => store.sandboxes.insert(sandboxRecord()));
  let ended = 0;
  for (const work of flood) void work.finally(() => ended++);
  await expect.poll(() => server.query(url, waiting)).toEqual([{ count: '4' }]);
  for (let n = 0; n < 20; n++) {
    const box = sandboxRecord({ ownerId: bob.id });
    await store.sandboxes.insert(box);
    // A sandbox by its id is the service's: its owner is not known before.
    await store.sandboxes.update(box.id, 1, { name: `renamed ${n}` });
    await store.keys.add(bob.id, `key ${n}`, { name: 'one', createdAt: 1, expiresAt: null });
    expect(await store.keys.callerOf(`key ${n}`, 2)).toMatchObject({ id: bob.id });
  }
  expect((await store.sandboxes.list({ ownerId: bob.id }, { page: 1, pageSize: 1 })).totalCount).toBe(20);
  expect(ended).toBe(0);
  expect(await server.query(url, waiting)).toEqual([{ count: '4' }]);
  await release();
  await Promise.all(flood);
  expect(await store.sandboxes.all()).toHaveLength(60);
});

it('so many of one user wait, and the rest is refused before anything happens', async () => {
  const { store, release } = await slowForAlice();
  const flood = Array.from({ length: 1_030 }, () => store.sandboxes.insert(sandboxRecord()));
  const results = Promise.allSettled(flood);
  await expect(flood.at(-1)).rejects.toMatchObject({
    code: 'resource_exhausted',
    message: '4 statements are already running for you; your share is 4.',
    fields: { retryable: true },
  });
  await store.sandboxes.insert(sandboxRecord({ ownerId: bob.id }));
  await release();
  const refused = (await results).filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(2);
});

/** Connections that wait for a lock. */
const waiting = `SELECT count(*) AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock'`;

/** A store in which Alice's new sandboxes wait until `release`. */
async function slowForAlice() {
  const url = await server.database();
  const secrets = secretsOf(Buffer.alloc(32, 1));
  const store = await openPostgresStore({ address: { url, password: null }, secrets });
  onTestFinished(() => store.close());
  for (const user of [alice, bob]) await store.users.insertUser(user);
  await server.query(
    url,
    `CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN PERFORM pg_advisory_xact_lock_shared(7); RETURN NEW; END $$;
     CREATE TRIGGER wait BEFORE INSERT ON sandboxes FOR EACH ROW WHEN (NEW.owner_id = '${alice.id}')
       EXECUTE FUNCTION wait()`,
  );
  const holder = new pg.Client(url);
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query('SELECT pg_advisory_lock(7)');
  return { url, store, release: () => holder.query('SELECT pg_advisory_unlock(7)') };
}
