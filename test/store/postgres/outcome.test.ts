/** A change whose connection is lost before its answer: made, not made, or said to be unknown; never guessed. */
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../../src/control/ports/index.ts';
import { secretsOf } from '../../../src/store/files/secrets.ts';
import { openPostgresStore } from '../../../src/store/postgres/store.ts';
import { alice, sandboxRecord } from '../fixtures.ts';
import { type CuttingProxy, startCuttingProxy } from './cutting-proxy.ts';
import { type PostgresServer, startPostgres } from './server.ts';

const secrets = secretsOf(Buffer.alloc(32, 1));
let server: PostgresServer;
let proxy: CuttingProxy;

beforeAll(async () => {
  server = await startPostgres();
  proxy = await startCuttingProxy(server.port);
}, 60_000);
afterAll(async () => {
  await proxy?.close();
  await server?.stop();
});

const rename = (store: Store) => store.users.updateUser(alice.id, () => ({ name: 'Renamed' }));
const nameOf = async (store: Store) => (await store.users.findUser(alice.id))?.name;

it('a commit that was made gives its result', async () => {
  const { store } = await open();
  proxy.cutAt('COMMIT sent');
  expect(await rename(store)).toMatchObject({ name: 'Renamed' });
  expect(await nameOf(store)).toBe('Renamed');
});

it('a commit that takes its time gives its result when it is made', async () => {
  const { url, store } = await open();
  await atCommit(url, 'PERFORM pg_sleep(1)');
  proxy.cutAt('COMMIT sent');
  expect(await rename(store)).toMatchObject({ name: 'Renamed' });
});

it('a commit that never reached the server, or that it refused, can be tried again', async () => {
  const { url, store } = await open();
  proxy.cutAt('COMMIT unsent');
  await expect(rename(store)).rejects.toMatchObject({ code: 'unavailable', fields: { retryable: true } });
  await atCommit(url, `RAISE 'refused'`);
  proxy.cutAt('COMMIT sent');
  await expect(rename(store)).rejects.toMatchObject({ code: 'unavailable', fields: { retryable: true } });
  expect(await nameOf(store)).toBe('Alice');
});

const unknown = {
  code: 'unavailable',
  message: 'The database of the service broke off in the middle of a change, which may have been made.',
  fields: { retryable: false },
};

it('a commit is unknown when its number may be that of another transaction, after a crash', async () => {
  const { url, store } = await open();
  await atCommit(url, 'UPDATE sandhaven_boot SET id = gen_random_uuid()');
  proxy.cutAt('COMMIT sent');
  await expect(rename(store)).rejects.toMatchObject(unknown);
});

it('a statement that commits itself is unknown', async () => {
  const { store } = await open();
  proxy.cutAt('statement sent');
  await expect(store.sandboxes.insert(sandboxRecord())).rejects.toMatchObject(unknown);
  await store.sandboxes.insert(sandboxRecord());
});

it('the mark of a boot goes with a crash of the server, and comes back with the next change', async () => {
  const { url, store } = await open();
  const marks = () => server.query(url, 'SELECT id FROM sandhaven_boot');
  const before = await marks();
  expect(before).toHaveLength(1);
  await server.kill();
  await server.start();
  expect(await marks()).toEqual([]);
  await expect.poll(() => rename(store).catch(() => null), { timeout: 10_000 }).not.toBeNull();
  expect(await marks()).toHaveLength(1);
  expect(await marks()).not.toEqual(before);
});

/** Runs PL/pgSQL in the server's COMMIT of a change of a user. */
async function atCommit(url: string, statement: string): Promise<void> {
  await server.query(
    url,
    `CREATE FUNCTION at_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${statement}; RETURN NULL; END $$;
     CREATE CONSTRAINT TRIGGER at_commit AFTER UPDATE ON users DEFERRABLE INITIALLY DEFERRED
       FOR EACH ROW EXECUTE FUNCTION at_commit()`,
  );
}

async function open(): Promise<{ url: string; store: Store }> {
  const url = await server.database();
  const store = await openPostgresStore({ address: { url: proxy.through(url), password: null }, secrets });
  onTestFinished(() => store.close());
  await store.users.insertUser(alice);
  return { url, store };
}
