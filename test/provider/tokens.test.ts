/** Tokens that end are renewed by themselves, once for everybody who waits; what cannot be renewed is asked for anew. */
import { describe, expect, it } from 'vitest';
import { alice } from '../store/fixtures.ts';
import { startHarness } from './harness.ts';

const HOUR = 3_600_000;

async function expiring() {
  const harness = await startHarness('app');
  harness.server.state.tokenSeconds = 8 * 3_600;
  await harness.authorize(alice, 'ada');
  const refreshes = () => harness.server.state.asked.filter((what) => what === 'refresh').length;
  return { ...harness, refreshes };
}

describe('a token that ends', () => {
  it('[SBX-GIT-25] is left alone while it is good, and renewed before it ends', async () => {
    const { tokens, pass, refreshes } = await expiring();
    const first = await tokens.current(alice);
    pass(7 * HOUR);
    expect((await tokens.current(alice))?.tokens).toEqual(first?.tokens);
    expect(refreshes()).toBe(0);
    pass(0.9 * HOUR);
    const second = await tokens.current(alice);
    expect(second?.tokens.accessToken).not.toBe(first?.tokens.accessToken);
    expect(second?.id).toBe(first?.id);
    expect(await tokens.current(alice)).toEqual(second);
    pass(24 * HOUR);
    expect(await tokens.current(alice)).not.toBeNull();
    expect(refreshes()).toBe(2);
  });

  it('is renewed once for all who want it at the same time: a refresh token works only once', async () => {
    const { tokens, pass, refreshes } = await expiring();
    pass(9 * HOUR);
    const got = await Promise.all(Array.from({ length: 20 }, () => tokens.current(alice)));
    expect(new Set(got.map((each) => each?.tokens.accessToken)).size).toBe(1);
    expect(refreshes()).toBe(1);
  });

  it('is gone when its refresh token was revoked, and the next call asks for an authorization', async () => {
    const { tokens, store, server, pass, entry } = await expiring();
    server.revokeAll('ada');
    pass(9 * HOUR);
    expect(await tokens.current(alice)).toBeNull();
    expect(await store.authorizations.list(alice.id)).toEqual([]);
    const asAnybody = await entry(alice, server.repository('ada/secret'));
    expect(asAnybody?.login).toBeNull();
    expect(await asAnybody?.explain?.()).toMatchObject({
      code: 'authorization_required',
      fields: { authorization_url: expect.stringContaining('/login/oauth/authorize?') },
    });
  });

  it('is used on while the provider cannot renew it, and not given up', async () => {
    const { tokens, store, server, pass } = await expiring();
    const before = server.git.intercept;
    server.git.intercept = (_request, response) => {
      response.writeHead(503).end();
      return true;
    };
    pass(7.9 * HOUR);
    expect(await tokens.current(alice)).not.toBeNull();
    pass(HOUR);
    await expect(tokens.current(alice)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await store.authorizations.list(alice.id)).toHaveLength(1);
    server.git.intercept = before;
    expect(await tokens.current(alice)).not.toBeNull();
  });

  it('is not brought back when it was revoked while it was being renewed', async () => {
    const { tokens, store, authorizations, pass, server } = await expiring();
    pass(9 * HOUR);
    const [current] = await Promise.all([tokens.current(alice), authorizations.revoke(alice)]);
    expect(current).toBeNull();
    expect(await store.authorizations.list(alice.id)).toEqual([]);
    expect(server.state.tokens.size).toBe(0);
  });
});

describe('uses of authorizations hear of', () => {
  it('a new one, each renewal, and the end by the user', async () => {
    const { authorizations, tokens, pass, changes } = await expiring();
    expect(changes).toEqual([alice.id]);
    pass(9 * HOUR);
    await tokens.current(alice);
    await tokens.current(alice);
    expect(changes).toEqual([alice.id, alice.id]);
    await authorizations.revoke(alice);
    expect(changes).toEqual([alice.id, alice.id, alice.id]);
  });

  it('the end by the provider, when it renews the token no more, and when it rejects it', async () => {
    const { tokens, server, pass, changes, authorize } = await expiring();
    server.revokeAll('ada');
    pass(9 * HOUR);
    await tokens.current(alice);
    expect(changes).toEqual([alice.id, alice.id]);
    await authorize(alice, 'ada');
    const current = await tokens.current(alice);
    if (!current) throw new Error('not authorized');
    await tokens.ended(current);
    expect(changes).toHaveLength(4);
  });
});
