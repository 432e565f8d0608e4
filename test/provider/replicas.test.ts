/** Two replicas over one store: an authorization that began at one of them goes on at the other. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Store } from '../../src/control/ports/index.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { alice, bob } from '../store/fixtures.ts';
import { type PostgresServer, startPostgres } from '../store/postgres/server.ts';
import { type Harness, returned, secrets, startHarness } from './harness.ts';

let postgres: PostgresServer;

beforeAll(async () => {
  postgres = await startPostgres();
}, 60_000);
afterAll(() => postgres?.stop());

describe.each([
  ['SQLite', () => startHarness()],
  ['PostgreSQL', async () => startHarness('oauth', await inOneDatabase())],
])('two replicas over one store in %s', (_, start: () => Promise<Harness>) => {
  it('complete by browser what began at the other, once, and both show the outcome', async () => {
    const { server, authorizations: here, beside, store } = await start();
    const there = await beside();
    const { id, url } = await here.startBrowser(alice);
    expect((await there.startBrowser(alice)).url).toBe(url);
    const { state, code } = returned(await server.authorize(url, 'ada'));
    expect(await there.whoAsks(state)).toEqual({
      id: 'user_alice',
      name: 'Alice',
      email: 'alice@example.org',
    });
    expect(await there.complete(state, code)).toMatchObject({ outcome: { status: 'authorized' } });
    for (const replica of [here, there]) {
      expect(await replica.complete(state, code)).toBeNull();
      expect(await replica.poll(alice, id)).toMatchObject({
        status: 'authorized',
        account: { login: 'ada' },
      });
      await expect(replica.poll(bob, id)).rejects.toMatchObject({ code: 'not_found' });
    }
    expect(server.state.asked.filter((what) => what === 'exchange')).toHaveLength(1);
    expect(await store.authorizations.list(alice.id)).toMatchObject([{ account: { login: 'ada' } }]);
  });

  it('show one URL when both are asked at once', async () => {
    const { authorizations: here, beside } = await start();
    const there = await beside();
    const begun = await Promise.all([here, there, here, there].map((each) => each.startBrowser(alice)));
    expect(new Set(begun.map(({ url }) => url)).size).toBe(1);
  });

  it('use a state once when the browser’s return reaches both at once', async () => {
    const { server, authorizations: here, beside } = await start();
    const there = await beside();
    const { url } = await here.startBrowser(alice);
    const { state, code } = returned(await server.authorize(url, 'ada'));
    const done = await Promise.all([here, there].map((each) => each.complete(state, code)));
    expect(done.filter((each) => each !== null)).toMatchObject([{ outcome: { status: 'authorized' } }]);
    expect(server.state.asked.filter((what) => what === 'exchange')).toHaveLength(1);
  });

  it('record one of a denial and an agreement at once', async () => {
    const { server, authorizations: here, beside } = await start();
    const there = await beside();
    const { id, url } = await here.startBrowser(alice);
    const { state, code } = returned(await server.authorize(url, 'ada'));
    const [denied, done] = await Promise.all([here.deny(state), there.complete(state, code)]);
    expect([denied, done].filter((each) => each !== null)).toHaveLength(1);
    const { status } = await here.poll(alice, id);
    expect(status).toBe(denied ? 'denied' : 'authorized');
  });

  it('ask the provider by device code once when both are asked at once, and at the slower pace that it demands', async () => {
    const { server, authorizations: here, beside, pass } = await start();
    const there = await beside();
    const { id, userCode } = await here.startDevice(alice);
    const asked = () => server.state.asked.filter((what) => what === 'poll').length;
    const poll = () => Promise.all([here, there].map((each) => each.poll(alice, id)));
    await poll();
    expect(asked()).toBe(0);
    pass(1_000);
    await poll();
    expect(asked()).toBe(1);
    server.state.deviceInterval = 3;
    pass(1_000);
    await there.poll(alice, id);
    expect(asked()).toBe(2);
    expect(await poll()).toEqual(Array(2).fill({ status: 'pending', intervalMs: 8_000 }));
    server.enter(userCode, 'ada');
    pass(7_999);
    await poll();
    expect(asked()).toBe(2);
    pass(1);
    await there.poll(alice, id);
    expect(asked()).toBe(3);
    expect(await poll()).toEqual(Array(2).fill({ status: 'authorized', account: { id: '1', login: 'ada' } }));
    expect(asked()).toBe(3);
  });

  it('go on by device code when the one that asked the provider is gone', async () => {
    const { server, authorizations: here, beside, pass } = await start();
    const there = await beside();
    const { id, userCode } = await here.startDevice(alice);
    server.enter(userCode, 'ada');
    const serving = server.git.intercept;
    const silent = Promise.withResolvers<ServerResponse>();
    server.git.intercept = (_request: IncomingMessage, response) => {
      silent.resolve(response);
      return true;
    };
    pass(1_000);
    const lost = here.poll(alice, id);
    const unanswered = await silent.promise;
    server.git.intercept = serving;
    const asked = () => server.state.asked.filter((what) => what === 'poll').length;
    pass(30_999);
    expect(await there.poll(alice, id)).toMatchObject({ status: 'pending' });
    expect(asked()).toBe(0);
    pass(1);
    expect(await there.poll(alice, id)).toMatchObject({ status: 'authorized' });
    unanswered.destroy();
    await expect(lost).rejects.toMatchObject({ code: 'unavailable' });
    expect(await here.poll(alice, id)).toMatchObject({ status: 'authorized' });
  });

  it('send no code to another provider than the one where it began', async () => {
    const { server, authorizations: here, beside, pass } = await start();
    const elsewhere = await beside('https://git.example.org');
    const { id, url } = await here.startBrowser(alice);
    const { state, code } = returned(await server.authorize(url, 'ada'));
    expect(await elsewhere.whoAsks(state)).toBeNull();
    expect(await elsewhere.complete(state, code)).toBeNull();
    expect((await elsewhere.startBrowser(alice)).id).not.toBe(id);
    const device = await here.startDevice(alice);
    pass(1_000);
    for (const begun of [id, device.id]) {
      await expect(elsewhere.poll(alice, begun)).rejects.toMatchObject({ code: 'not_found' });
    }
    expect(await here.complete(state, code)).toMatchObject({ outcome: { status: 'authorized' } });
  });
});

async function inOneDatabase(): Promise<() => Promise<Store>> {
  const address = { url: await postgres.database(), password: null };
  return () => openPostgresStore({ address, secrets, shared: true });
}
