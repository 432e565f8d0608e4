/** The one-time authorization: by a browser that is sent there and back, and by a code that is typed in there. */
import { describe, expect, it } from 'vitest';
import { alice, bob } from '../store/fixtures.ts';
import { CALLBACK, returned, startHarness } from './harness.ts';

const OUTCOME_MS = 600_000;
const PENDING_PER_USER = 8;

const MINUTE = 60_000;
/** Alice, as the page names her. */
const asking = { id: 'user_alice', name: 'Alice', email: 'alice@example.org' };

describe('by browser', () => {
  it('[SBX-GIT-25, SBX-GIT-26] asks for the scope repo, with a state and PKCE, and keeps the tokens for this user', async () => {
    const { server, authorizations, store } = await startHarness();
    const { id, url } = await authorizations.startBrowser(alice);
    const query = new URL(url).searchParams;
    expect(url.startsWith(`${server.url}/login/oauth/authorize?`)).toBe(true);
    expect(query.get('scope')).toBe('repo');
    expect(query.get('code_challenge_method')).toBe('S256');
    expect(query.get('code_challenge')).toMatch(/^[\w-]{43}$/);
    expect(query.get('state')).toMatch(/^[\w-]{43}$/);
    expect(query.get('redirect_uri')).toBe(`${CALLBACK}/auth/github/callback`);
    expect(await authorizations.poll(alice, id)).toMatchObject({ status: 'pending' });
    const { state, code } = returned(await server.authorize(url, 'ada'));
    expect(await authorizations.whoAsks(state)).toEqual(asking);
    expect(await authorizations.complete(state, code)).toMatchObject({
      user: asking,
      outcome: { status: 'authorized', account: { login: 'ada' } },
    });
    expect(await authorizations.poll(alice, id)).toMatchObject({ status: 'authorized' });
    expect(await store.authorizations.list(alice.id)).toMatchObject([{ account: { id: '1', login: 'ada' } }]);
  });

  it('[SBX-GIT-27] asks for no scope in the mode of an app: its permissions are its installation’s', async () => {
    const { authorizations } = await startHarness('app');
    expect(new URL((await authorizations.startBrowser(alice)).url).searchParams.has('scope')).toBe(false);
  });

  it('of two users are two: neither sees, polls or uses what is the other’s', async () => {
    const harness = await startHarness();
    const { authorizations, tokens, store } = harness;
    const { id } = await authorizations.startBrowser(alice);
    await expect(authorizations.poll(bob, id)).rejects.toMatchObject({ code: 'not_found' });
    await harness.authorize(alice, 'ada');
    expect(await tokens.current(bob)).toBeNull();
    expect(await authorizations.list(bob)).toEqual([]);
    await expect(authorizations.revoke(bob)).rejects.toMatchObject({ code: 'not_found' });
    await harness.authorize(bob, 'bob');
    expect((await tokens.current(alice))?.account.login).toBe('ada');
    expect((await tokens.current(bob))?.account.login).toBe('bob');
    await authorizations.revoke(bob);
    expect(await store.authorizations.list(alice.id)).toHaveLength(1);
  });

  it('takes a state once, for ten minutes, and no other', async () => {
    const harness = await startHarness();
    const { server, authorizations } = harness;
    const first = returned(await server.authorize((await authorizations.startBrowser(alice)).url, 'ada'));
    expect(await authorizations.complete('A'.repeat(43), first.code)).toBeNull();
    expect(await authorizations.complete('', first.code)).toBeNull();
    expect(await authorizations.complete(first.state, first.code)).not.toBeNull();
    const again = returned(await server.authorize((await authorizations.startBrowser(alice)).url, 'ada'));
    expect(again.state).not.toBe(first.state);
    expect(await authorizations.complete(first.state, again.code)).toBeNull();
    expect(await authorizations.whoAsks(first.state)).toBeNull();
    harness.pass(10 * MINUTE);
    expect(await authorizations.whoAsks(again.state)).toBeNull();
    expect(await authorizations.complete(again.state, again.code)).toBeNull();
    expect(server.state.asked.filter((what) => what === 'exchange')).toHaveLength(1);
  });

  it('of somebody else’s code fails by PKCE, and uses the state up', async () => {
    const { server, authorizations, store } = await startHarness();
    const ours = returned(await server.authorize((await authorizations.startBrowser(alice)).url, 'ada'));
    const theirs = returned(await server.authorize((await authorizations.startBrowser(bob)).url, 'bob'));
    const done = await authorizations.complete(ours.state, theirs.code);
    expect(done?.outcome).toMatchObject({ status: 'denied' });
    expect(await authorizations.complete(ours.state, ours.code)).toBeNull();
    expect(await store.authorizations.list(alice.id)).toEqual([]);
  });

  it('stores nothing when the person denies, or grants less than is needed', async () => {
    const { server, authorizations, store } = await startHarness();
    const denied = await authorizations.startBrowser(alice);
    const { state, error } = returned(await server.authorize(denied.url, 'ada', false));
    expect(error).toBe('access_denied');
    expect(await authorizations.deny(state)).toEqual(asking);
    expect(await authorizations.deny(state)).toBeNull();
    expect(await authorizations.poll(alice, denied.id)).toMatchObject({ status: 'denied' });
    server.state.grantedScopes = ['public_repo'];
    const less = returned(await server.authorize((await authorizations.startBrowser(alice)).url, 'ada'));
    expect((await authorizations.complete(less.state, less.code))?.outcome).toEqual({
      status: 'denied',
      reason: expect.stringContaining('scope repo'),
    });
    expect(await store.authorizations.list(alice.id)).toEqual([]);
  });

  it('is shown by one URL for a while, however often it is asked for; then by a fresh one', async () => {
    const harness = await startHarness();
    const { authorizations } = harness;
    const { url } = await authorizations.startBrowser(alice);
    harness.pass(4 * MINUTE);
    expect((await authorizations.startBrowser(alice)).url).toBe(url);
    expect((await authorizations.startBrowser(bob)).url).not.toBe(url);
    harness.pass(2 * MINUTE);
    expect((await authorizations.startBrowser(alice)).url).not.toBe(url);
    expect(await authorizations.whoAsks(new URL(url).searchParams.get('state') ?? '')).toEqual(asking);
  });
});

describe('by device code', () => {
  it('waits until the code is typed in, asks no more often than it may, and slows down on request', async () => {
    const harness = await startHarness();
    const { server, authorizations, store } = harness;
    const started = await authorizations.startDevice(alice);
    expect(started).toMatchObject({
      userCode: expect.stringMatching(/^[0-9A-F]{4}-[0-9A-F]{4}$/),
      intervalMs: 1_000,
    });
    expect(JSON.stringify(started)).not.toContain('canary-device');
    const poll = () => authorizations.poll(alice, started.id);
    const polls = () => server.state.asked.filter((what) => what === 'poll').length;
    for (let n = 0; n < 5; n++) expect(await poll()).toEqual({ status: 'pending', intervalMs: 1_000 });
    expect(polls()).toBe(0);
    harness.pass(1_000);
    await Promise.all([poll(), poll(), poll()]);
    expect(polls()).toBe(1);
    server.state.deviceInterval = 3;
    harness.pass(1_000);
    expect(await poll()).toEqual({ status: 'pending', intervalMs: 8_000 });
    server.enter(started.userCode, 'ada');
    harness.pass(7_999);
    expect(await poll()).toMatchObject({ status: 'pending' });
    expect(polls()).toBe(2);
    harness.pass(1);
    expect(await poll()).toMatchObject({ status: 'authorized', account: { login: 'ada' } });
    expect(await poll()).toMatchObject({ status: 'authorized' });
    expect(polls()).toBe(3);
    expect(await store.authorizations.list(alice.id)).toMatchObject([{ account: { login: 'ada' } }]);
  });

  it('stores nothing when it is denied or never typed in', async () => {
    const harness = await startHarness();
    const { server, authorizations, store } = harness;
    const denied = await authorizations.startDevice(alice);
    const late = await authorizations.startDevice(alice);
    await expect(authorizations.poll(bob, late.id)).rejects.toMatchObject({ code: 'not_found' });
    server.enter(denied.userCode, 'ada', false);
    harness.pass(1_000);
    expect(await authorizations.poll(alice, denied.id)).toMatchObject({ status: 'denied' });
    harness.pass(15 * MINUTE);
    expect(await authorizations.poll(alice, late.id)).toEqual({ status: 'expired' });
    harness.pass(OUTCOME_MS);
    await expect(authorizations.poll(alice, late.id)).rejects.toMatchObject({ code: 'not_found' });
    expect(await store.authorizations.list(alice.id)).toEqual([]);
  });

  it('is under way a bounded number of times for one user', async () => {
    const { authorizations } = await startHarness();
    const ids: string[] = [];
    for (let n = 0; n <= PENDING_PER_USER; n++) ids.push((await authorizations.startDevice(alice)).id);
    await expect(authorizations.poll(alice, ids[0] ?? '')).rejects.toMatchObject({ code: 'not_found' });
    expect(await authorizations.poll(alice, ids[1] ?? '')).toMatchObject({ status: 'pending' });
  });
});

describe('an authorization', () => {
  it('is revoked here and at the provider', async () => {
    const harness = await startHarness();
    const { server, authorizations, tokens } = harness;
    await harness.authorize(alice, 'ada');
    expect(await authorizations.revoke(alice)).toEqual({
      account: { id: '1', login: 'ada' },
      atProvider: true,
    });
    expect(server.state.tokens.size).toBe(0);
    expect(await tokens.current(alice)).toBeNull();
  });

  it('shows no secret in the log', async () => {
    const harness = await startHarness();
    harness.server.state.tokenSeconds = 60;
    await harness.authorize(alice, 'ada');
    await harness.tokens.current(alice);
    await harness.authorizations.revoke(alice);
    expect(harness.log()).toContain(alice.id);
    expect(harness.server.state.secrets.length).toBeGreaterThan(4);
    for (const secret of harness.server.state.secrets) expect(harness.log()).not.toContain(secret);
  });
});
