/** What a call costs at the server: nothing on the hot path, and what others write is seen. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../../../src/control/ports/index.ts';
import { secretsOf } from '../../../../src/store/files/secrets.ts';
import { openPostgresStore } from '../../../../src/store/postgres/store.ts';
import { alice, poolRecord, sandboxRecord } from '../../fixtures.ts';
import { type CountingProxy, startCountingProxy } from '../counting-proxy.ts';
import { type PostgresServer, startPostgres } from '../server.ts';

const secrets = secretsOf(Buffer.alloc(32, 1));
let server: PostgresServer;
let proxy: CountingProxy;

beforeAll(async () => {
  server = await startPostgres();
  proxy = await startCountingProxy(server.port);
}, 60_000);
afterAll(async () => {
  await proxy?.close();
  await server?.stop();
});

async function open(): Promise<{ url: string; store: Store }> {
  const url = await server.database();
  const store = await openPostgresStore({ address: { url: proxy.through(url), password: null }, secrets });
  onTestFinished(() => store.close());
  await store.users.insertUser(alice);
  await store.keys.add(alice.id, 'key', { name: 'one', createdAt: 1, expiresAt: 100 });
  return { url, store };
}

describe('round trips', () => {
  it('are none on the hot path: a caller and a sandbox that were read before', async () => {
    const { store } = await open();
    const box = sandboxRecord({ name: 'box' });
    await store.sandboxes.insert(box);
    const hotPath = async () => {
      expect(await store.keys.callerOf('key', 2)).toMatchObject({ id: alice.id });
      expect(await store.sandboxes.find(alice.id, 'box')).toEqual(box);
      expect(await store.sandboxes.get(box.id)).toEqual(box);
    };
    // News of the insertion are still under way.
    await expect.poll(() => proxy.during(hotPath)).toBe(0);
  });

  it('are one for a statement alone, and two more for a transaction', async () => {
    const { store } = await open();
    const box = sandboxRecord();
    const quota = { sandboxes: 9, cpu: null, memory: null, disk: null, snapshots: null };
    const page = { page: 1, pageSize: 10 };
    const { sandboxes, idempotency, keys } = store;
    // A first connection, and more of them, are opened with the first calls.
    await Promise.all(Array.from({ length: 10 }, () => sandboxes.all()));
    const trips = (work: () => Promise<unknown>) => proxy.during(work);
    expect(await trips(() => sandboxes.insert(box))).toBe(1);
    expect(await trips(() => sandboxes.update(box.id, 1, { generation: 2 }))).toBe(1);
    expect(await trips(() => sandboxes.insert(sandboxRecord(), { ownerId: alice.id, quota }))).toBe(7);
    expect(await trips(() => sandboxes.list({ ownerId: alice.id }, page))).toBe(4);
    expect(await trips(() => sandboxes.touch(new Map([[box.id, 2_000]])))).toBe(3);
    expect(await trips(() => sandboxes.schedulable())).toBe(1);
    expect(await trips(() => idempotency.put(alice.id, 'key', 'digest', 1, 1))).toBe(4);
    expect(await trips(() => idempotency.get(alice.id, 'key'))).toBe(1);
    expect(await trips(() => keys.countLive(alice.id, 2))).toBe(1);
    await sandboxes.insert(poolRecord());
    const match = { imageDigest: 'sha256:base', diskGb: 20 };
    expect(await trips(() => sandboxes.claim(match, { ownerId: alice.id, name: 'claimed' }))).toBe(4);
    expect(await trips(() => sandboxes.remove(box.id, 2))).toBe(1);
  });
});

describe('a cached row', () => {
  it('of a revoked key, a disabled user or an expired key is refused at once', async () => {
    const { store } = await open();
    const id = (await store.keys.callerOf('key', 2))?.keyId ?? '';
    expect(await store.keys.callerOf('key', 100)).toBeNull();
    await store.keys.revoke(id, 3);
    expect(await store.keys.callerOf('key', 4)).toBeNull();
    await store.keys.add(alice.id, 'other', { name: 'two', createdAt: 1, expiresAt: null });
    expect(await store.keys.callerOf('other', 5)).not.toBeNull();
    await store.users.insertUser({ ...alice, id: 'user_admin', email: 'admin@example.org' });
    await store.users.updateUser(alice.id, () => ({ disabledAt: 6 }));
    expect(await store.keys.callerOf('other', 7)).toBeNull();
  });

  it('that another connection writes is read anew within moments', async () => {
    const { url, store } = await open();
    const box = sandboxRecord();
    await store.sandboxes.insert(box);
    await store.sandboxes.get(box.id);
    await store.keys.callerOf('key', 2);
    await server.query(url, `UPDATE sandboxes SET name = 'renamed'; UPDATE users SET name = 'Renamed'`);
    await expect.poll(async () => (await store.sandboxes.get(box.id))?.name).toBe('renamed');
    await expect.poll(async () => (await store.keys.callerOf('key', 2))?.name).toBe('Renamed');
    await server.query(url, 'DELETE FROM sandboxes');
    await expect.poll(() => store.sandboxes.get(box.id)).toBeNull();
  });
});
