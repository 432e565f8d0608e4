/** Open connections of a replica that was away from PostgreSQL while their right ended at another one. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { AccessService } from '../../../src/control/access/tokens.ts';
import { CallerRights } from '../../../src/control/callers/caller-rights.ts';
import type { Store } from '../../../src/control/ports/index.ts';
import { RightsCheck } from '../../../src/control/replicas/rights-check.ts';
import { secretsOf } from '../../../src/store/files/secrets.ts';
import { openPostgresStore } from '../../../src/store/postgres/store.ts';
import { alice, bob, sandboxId, sandboxRecord } from '../fixtures.ts';
import { type PostgresServer, startPostgres } from './server.ts';

const secrets = secretsOf(Buffer.alloc(32, 1));
const [BOX, OTHER] = [sandboxId(1), sandboxId(2)];
const details = { name: 'laptop', createdAt: 1, expiresAt: null };
let server: PostgresServer;
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
afterAll(() => server?.stop());

it('end once it listens again, and those whose right goes on stay open', { timeout: 60_000 }, async () => {
  const url = await server.database();
  const way = await wayTo(server.port);
  const one = await replica(url);
  const two = await replica(way.through(url));
  await one.store.users.insertUser(alice);
  await one.store.users.insertUser(bob);
  await one.store.sandboxes.insert(sandboxRecord({ id: BOX }));
  await one.store.sandboxes.insert(sandboxRecord({ id: OTHER, name: 'other' }));
  const lost = await one.store.keys.add(alice.id, 'a key that is revoked', details);
  const kept = await one.store.keys.add(alice.id, 'a key that stays', details);
  const ended: string[] = [];
  const end = (name: string) => () => void ended.push(name);
  for (const key of [lost, kept]) {
    two.callerRights.whileValid({ ...alice, keyId: key.id, keyExpiresAt: null }, end(`key ${key.id}`));
  }
  for (const user of [alice, bob]) await two.callerRights.whileEnabled(user.id, end(user.id));
  const open = (name: string, token: Parameters<AccessService['rightOf']>[0] & { sandboxId: string }) =>
    two.access.whileGranted(token.kind, token.sandboxId, end(name), two.access.rightOf(token));
  const forever = { port: null, expiresAt: null };
  open('ssh', (await one.access.mint(BOX, 'ssh', forever)).record);
  open('ssh of another sandbox', (await one.access.mint(OTHER, 'ssh', forever)).record);
  open('signed preview', (await one.access.mint(BOX, 'preview', { port: 80, expiresAt: null })).record);
  for (const id of [BOX, OTHER]) {
    const right = two.access.rightOfPreview(id, 80, await two.access.previewToken(id, 80));
    two.access.whileGranted('preview', id, end(`preview of ${id}`), right);
  }

  way.cut();
  await one.store.keys.revoke(lost.id, 2);
  one.callerRights.ended(lost.id);
  await one.store.users.updateUser(bob.id, () => ({ disabledAt: 2 }));
  one.callerRights.ended(bob.id);
  await one.access.revoke(BOX, ['ssh', 'preview']);
  open('ssh with a later token', (await one.access.mint(BOX, 'ssh', forever)).record);
  expect(ended).toEqual([]);
  way.mend();
  const over = [`key ${lost.id}`, bob.id, 'ssh', 'signed preview', `preview of ${BOX}`];
  await expect.poll(() => [...ended].sort(), { timeout: 20_000 }).toEqual(over.sort());
  await two.rights.turn();
  expect([...ended].sort()).toEqual(over.sort());
});

async function replica(url: string) {
  const store: Store = await openPostgresStore({ address: { url, password: null }, secrets, shared: true });
  const { replicas } = store;
  const callerRights = new CallerRights(store, Date, replicas);
  const previewKey = Buffer.alloc(32, 2);
  const access = new AccessService({ tokens: store.accessTokens, clock: Date, previewKey, replicas });
  const rights = new RightsCheck({ open: [callerRights, access], replicas, log: { warn: () => {} } });
  rights.begin();
  closers.push(async () => {
    await rights.close();
    await store.close();
  });
  return { store, callerRights, access, rights };
}

/** A way to the server that can be cut. */
async function wayTo(port: number) {
  let isCut = false;
  const sockets = new Set<Socket>();
  const front = createServer((client) => {
    if (isCut) return void client.destroy();
    const upstream = connect(port, '127.0.0.1');
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(socket);
          other.destroy();
        });
      socket.pipe(other);
    }
  });
  await once(front.listen(0, '127.0.0.1'), 'listening');
  const { port: own } = front.address() as AddressInfo;
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  closers.push(async () => {
    cut();
    await new Promise((resolve) => front.close(resolve));
  });
  return {
    through: (url: string) => url.replace(`:${port}/`, `:${own}/`),
    cut,
    mend() {
      isCut = false;
    },
  };
}
