/**
 * Two replicas over one store: an authorization that began at one of them goes on at the other, and a refresh token works once, so
 * one of them renews for both.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Store } from '../../src/control/ports/index.ts';
import { UserTokens } from '../../src/control/provider/tokens.ts';
import { SandhavenError } from '../../src/model/errors.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { createAlone } from '../../src/store/rows/alone.ts';
import { alice, bob } from '../store/fixtures.ts';
import { type PostgresServer, startPostgres } from '../store/postgres/server.ts';
import { type Harness, returned, secrets, startHarness } from './harness.ts';

const HOUR = 3_600_000;
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

async function pair() {
  const harness = await startHarness('app', await inOneDatabase());
  harness.server.state.tokenSeconds = 8 * 3_600;
  await harness.authorize(alice, 'ada');
  const { tokens: there } = await harness.tokensBeside();
  const refreshes = () => harness.server.state.asked.filter((what) => what === 'refresh').length;
  return { ...harness, here: harness.tokens, there, refreshes };
}

/** Holds the next request to the provider until it is let go. */
function holdNext(server: Awaited<ReturnType<typeof pair>>['server']) {
  const serving = server.git.intercept;
  const arrived = Promise.withResolvers<() => void>();
  server.git.intercept = (request: IncomingMessage, response: ServerResponse) => {
    server.git.intercept = serving;
    arrived.resolve(() => {
      if (!serving?.(request, response)) response.writeHead(500).end();
    });
    return true;
  };
  return arrived.promise;
}

describe('two replicas that renew one authorization', () => {
  it('renew it once when both want it at once, and both get the new token', async () => {
    const { here, there, pass, refreshes, store } = await pair();
    pass(9 * HOUR);
    const got = await Promise.all(
      Array.from({ length: 20 }, (_, at) => (at % 2 ? here : there).current(alice)),
    );
    expect(refreshes()).toBe(1);
    expect(new Set(got.map((each) => each?.tokens.accessToken)).size).toBe(1);
    expect(got[0]?.tokens).toEqual((await store.authorizations.list(alice.id))[0]?.tokens);
  });

  it('wait for each other for as long as the provider takes', async () => {
    const { here, there, pass, refreshes, server } = await pair();
    pass(9 * HOUR);
    const held = holdNext(server);
    const first = here.current(alice);
    const letGo = await held;
    const second = there.current(alice);
    await new Promise((resolve) => setTimeout(resolve, 600));
    letGo();
    expect(await second).toEqual(await first);
    expect(refreshes()).toBe(1);
  });

  it('keep it when the provider rejects the old token while the other one renews it', async () => {
    const { here, there, pass, server, store } = await pair();
    const old = await there.current(alice);
    if (!old) throw new Error('not authorized');
    pass(9 * HOUR);
    const held = holdNext(server);
    const renewing = here.current(alice);
    const letGo = await held;
    const ended = there.ended(old);
    await new Promise((resolve) => setTimeout(resolve, 600));
    letGo();
    expect(await ended).toBe(false);
    expect(await store.authorizations.list(alice.id)).toEqual([await renewing]);
  });

  it('try one after another when the provider is away, and keep it', async () => {
    const { here, there, pass, server, store, refreshes } = await pair();
    const serving = server.git.intercept;
    server.git.intercept = (_request: IncomingMessage, response: ServerResponse) => {
      response.writeHead(503).end();
      return true;
    };
    pass(9 * HOUR);
    await expect(here.current(alice)).rejects.toMatchObject({ code: 'unavailable' });
    await expect(there.current(alice)).rejects.toMatchObject({ code: 'unavailable' });
    server.git.intercept = serving;
    expect(await there.current(alice)).not.toBeNull();
    expect(refreshes()).toBe(1);
    expect(await store.authorizations.list(alice.id)).toHaveLength(1);
  });

  it('go on after one that is gone with its turn', async () => {
    const { there, pass, refreshes, store } = await pair();
    pass(9 * HOUR);
    const [row] = await store.authorizations.list(alice.id);
    if (!row) throw new Error('not authorized');
    const turn = await store.authorizations.takeRenewal(row.id, row.updatedAt, 1_000);
    expect(await there.current(alice)).not.toBeNull();
    expect(Date.now()).toBeGreaterThanOrEqual(turn ?? Number.POSITIVE_INFINITY);
    expect(refreshes()).toBe(1);
  });

  it('ask for an authorization when the answer was lost with the one that is gone', async () => {
    const { there, pass, host, entry, server, store } = await pair();
    pass(9 * HOUR);
    const [row] = await store.authorizations.list(alice.id);
    if (!row?.tokens.refreshToken) throw new Error('not authorized');
    await store.authorizations.takeRenewal(row.id, row.updatedAt, 300);
    await host.refresh(row.tokens.refreshToken);
    expect(await there.current(alice)).toBeNull();
    const asAnybody = await entry(alice, server.repository('ada/secret'));
    expect(await asAnybody?.explain?.()).toMatchObject({
      code: 'authorization_required',
      fields: { authorization_url: expect.stringContaining('/login/oauth/authorize?') },
    });
  });

  it('renew nothing without a lease', async () => {
    const { host, pass, refreshes, store } = await pair();
    pass(9 * HOUR);
    const assertLeased = () => {
      throw new SandhavenError('unavailable', 'This replica has lost touch with its database.');
    };
    const replicas = { ...createAlone(), shared: true, assertLeased };
    const clock = { now: () => 1_800_000_000_000 + 9 * HOUR };
    const log = { info: () => {}, warn: () => {}, error: () => {} };
    const uses = { changed() {} };
    const late = new UserTokens({ store: store.authorizations, host, replicas, uses, clock, log });
    await expect(late.current(alice)).rejects.toMatchObject({ code: 'unavailable' });
    expect(refreshes()).toBe(0);
  });
});

async function inOneDatabase(): Promise<() => Promise<Store>> {
  const address = { url: await postgres.database(), password: null };
  return () => openPostgresStore({ address, secrets, shared: true });
}
