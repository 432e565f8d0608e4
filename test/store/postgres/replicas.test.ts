/** Replicas of one database: leases, the fence of rows, messages, and keys of idempotent calls. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { heldRows } from '../../../src/control/base/sandbox-rows.ts';
import { enrolFirstUser } from '../../../src/control/people/people.ts';
import type { Store } from '../../../src/control/ports/index.ts';
import { limits } from '../../../src/model/limits.ts';
import { secretsOf } from '../../../src/store/files/secrets.ts';
import { ownerAmong } from '../../../src/store/postgres/membership.ts';
import { openPostgresStore } from '../../../src/store/postgres/store.ts';
import { alice, sandboxRecord } from '../fixtures.ts';
import { type PostgresServer, startPostgres } from './server.ts';

const secrets = secretsOf(Buffer.alloc(32, 1));
let server: PostgresServer;
let opened: Store[] = [];

beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});
afterAll(() => server?.stop());

describe('replicas of one database', { timeout: 60_000 }, () => {
  it('know each other, and divide work so that each piece has one', async () => {
    const [one, two] = await pair();
    await expect.poll(() => [one.replicas.count, two.replicas.count], { timeout: 10_000 }).toEqual([2, 2]);
    const works = Array.from({ length: 200 }, (_, at) => `work ${at}`);
    const mine = works.filter((work) => one.replicas.isMine(work));
    const theirs = works.filter((work) => two.replicas.isMine(work));
    expect([...mine, ...theirs].sort()).toEqual([...works].sort());
    expect(mine.length).toBeGreaterThan(50);
    expect(theirs.length).toBeGreaterThan(50);
  });

  it('keep a service out that would serve alone, and are kept out by one', async () => {
    const url = await server.database();
    const alone = await open(url, false);
    await expect(open(url)).rejects.toMatchObject({ code: 'failed_precondition' });
    await alone.close();
    opened = [];
    await open(url);
    await expect(open(url, false)).rejects.toMatchObject({ code: 'failed_precondition' });
  });

  it('take one that has closed for gone at once', async () => {
    const [one, two] = await pair();
    const id = two.replicas.id ?? '';
    expect(await one.replicas.lives(id)).toBe(true);
    await two.close();
    opened = [one];
    await expect.poll(() => one.replicas.lives(id), { timeout: 10_000 }).toBe(false);
    expect(one.replicas.count).toBe(1);
  });

  it('make one first user when they start together on an empty database', async () => {
    const url = await server.database();
    const [one, two] = [await open(url), await open(url)];
    const apiKey = `shv_${'a'.repeat(43)}`;
    await Promise.all([one, two].map((store) => enrolFirstUser(store, { now: () => 1 }, apiKey)));
    const { users } = await one.users.listUsers({ page: 1, pageSize: 10 });
    expect(users).toMatchObject([{ email: 'admin@localhost', role: 'admin' }]);
    expect(await two.keys.callerOf(apiKey, 2)).toMatchObject({ id: users[0]?.id });
  });

  it('hear messages of the others, and none of their own', async () => {
    const [one, two] = await pair();
    const heard: string[] = [];
    one.replicas.onTold('over', (text) => heard.push(`one ${text}`));
    two.replicas.onTold('over', (text) => heard.push(`two ${text}`));
    one.replicas.tell('over', 'user_1');
    await expect.poll(() => heard).toEqual(['two user_1']);
  });

  it('wake who waits for a row that another one writes', async () => {
    const [one, two] = await pair();
    await one.sandboxes.insert(sandboxRecord({ id: 'sb_0000000000000001' }));
    const begun = performance.now();
    const changed = two.replicas.changed('sb_0000000000000001', 20_000);
    await one.sandboxes.update('sb_0000000000000001', 1, { labels: { a: 'b' } });
    await changed;
    expect(performance.now() - begun).toBeLessThan(10_000);
  });
});

describe('the row of an operation', { timeout: 60_000 }, () => {
  it('is changed by a replica that was given up in no way, and by another under a new generation', async () => {
    const [one, two, url] = await pair();
    const rows = heldRows(one.sandboxes, one.replicas);
    const { id } = await begunBy(one);
    expect(await rows.update(id, 1, { labels: { still: 'mine' } })).toMatchObject({ generation: 1 });
    await giveUp(url, one);
    expect(await one.sandboxes.update(id, 1, { operation: null })).toBeNull();
    expect(await one.sandboxes.remove(id, 1)).toBe(false);
    await one.sandboxes.touch(new Map([[id, 99]]));
    expect(await one.sandboxes.reread(id)).toMatchObject({ lastActivityAt: sandboxRecord().lastActivityAt });
    const row = { operation: 'starting', generation: 2 } as const;
    expect(await heldRows(two.sandboxes, two.replicas).update(id, 1, row)).toMatchObject({
      generation: 2,
      holder: two.replicas.id,
    });
    expect(await two.sandboxes.update(id, 2, { operation: null, holder: null })).toMatchObject({
      holder: null,
    });
  });

  it('is not begun by a replica that was given up', async () => {
    const [one, , url] = await pair();
    await one.sandboxes.insert(sandboxRecord({ id: 'sb_0000000000000002' }));
    const { id: holder } = one.replicas;
    await giveUp(url, one);
    const begin = { operation: 'starting', generation: 2, holder } as const;
    await expect(one.sandboxes.update('sb_0000000000000002', 1, begin)).rejects.toMatchObject({
      code: 'unavailable',
    });
    const made = sandboxRecord({ id: 'sb_0000000000000003', name: 'new', operation: 'creating', holder });
    await expect(one.sandboxes.insert(made)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('is listed while the operation lasts', async () => {
    const [one, two] = await pair();
    const { id } = await begunBy(one);
    const listed = { id, operation: 'starting', holder: one.replicas.id, generation: 1 };
    expect(await two.sandboxes.inProgress('', 10)).toEqual([listed]);
    await heldRows(one.sandboxes, one.replicas).update(id, 1, { operation: null });
    expect(await two.sandboxes.inProgress('', 10)).toEqual([]);
  });
});

describe('a lease', () => {
  it('ends for its replica before a request that began under it could come late', () => {
    expect(limits.replicas.workMs + limits.kubernetes.requestMs).toBeLessThan(limits.replicas.leaseMs);
  });
});

describe('keys of idempotent calls', { timeout: 60_000 }, () => {
  it('are not held for good by a replica that was given up', async () => {
    const [one, two, url] = await pair();
    const [id, other] = [one.replicas.id ?? '', two.replicas.id ?? ''];
    for (const [key, holder] of [
      ['of one', id],
      ['of two', other],
    ] as const) {
      await two.idempotency.hold(alice.id, key, holder, null);
    }
    await giveUp(url, one);
    await two.idempotency.prune(0);
    expect(await server.query(url, 'SELECT key FROM idempotency_held')).toEqual([{ key: 'of two' }]);
  });
});

describe('work', () => {
  it('moves only where its replica has gone', () => {
    const works = Array.from({ length: 300 }, (_, at) => `sb_${at}`);
    const before = works.map((work) => ownerAmong(['a', 'b', 'c'], work));
    const after = works.map((work) => ownerAmong(['a', 'c'], work));
    expect(after.filter((owner, at) => before[at] !== 'b' && owner !== before[at])).toEqual([]);
    expect(ownerAmong([], 'work')).toBeNull();
  });
});

async function pair(): Promise<[Store, Store, string]> {
  const url = await server.database();
  const stores = await Promise.all([open(url), open(url)]);
  await stores[0].users.insertUser({ ...alice });
  return [...stores, url];
}

async function open(url: string, shared = true): Promise<Store> {
  const store = await openPostgresStore({ address: { url, password: null }, secrets, shared });
  opened.push(store);
  return store;
}

async function begunBy({ sandboxes, replicas }: Store) {
  const row = sandboxRecord({ id: 'sb_0000000000000009', operation: 'starting', state: 'stopped' });
  await heldRows(sandboxes, replicas).insert(row);
  return row;
}

/** As another replica does when its lease is over. */
async function giveUp(url: string, { replicas }: Store): Promise<void> {
  await server.query(url, `DELETE FROM replicas WHERE id = '${replicas.id}'`);
}
