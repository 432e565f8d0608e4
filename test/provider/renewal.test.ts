/** Two replicas that renew one authorization: a refresh token works once, so one of them renews for both. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UserTokens } from '../../src/control/provider/tokens.ts';
import { SandhavenError } from '../../src/model/errors.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { createAlone } from '../../src/store/rows/alone.ts';
import { alice } from '../store/fixtures.ts';
import { type PostgresServer, startPostgres } from '../store/postgres/server.ts';
import { secrets, startHarness } from './harness.ts';

const HOUR = 3_600_000;
let postgres: PostgresServer;

beforeAll(async () => {
  postgres = await startPostgres();
}, 60_000);
afterAll(() => postgres?.stop());

async function pair() {
  const address = { url: await postgres.database(), password: null };
  const harness = await startHarness('app', () => openPostgresStore({ address, secrets, shared: true }));
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
