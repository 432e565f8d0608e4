/** What every implementation of the port for authorizations under way does: bounds, one use of a state, turns to poll. */
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { BrowserFlow, DeviceFlow, Store } from '../../../src/control/ports/index.ts';
import { alice, bob } from '../fixtures.ts';
import type { StoreFactory } from './conformance.ts';

const provider = 'https://github.com';
const elsewhere = 'https://git.example.org';
const MINUTE = 60_000;
const ofAlice = { id: 'auth_a', userId: alice.id, provider };
const account = { id: '7', login: 'alice-at-work' };

export function browserFlow(overrides: Partial<BrowserFlow> = {}): BrowserFlow {
  const id = overrides.id ?? ofAlice.id;
  return {
    ...ofAlice,
    ...{ state: `canary-state-${id}`, verifier: `canary-verifier-${id}` },
    ...{ createdAt: 1_000, expiresAt: 601_000 },
    ...overrides,
  };
}

export function deviceFlow(overrides: Partial<DeviceFlow> = {}): DeviceFlow {
  return {
    ...ofAlice,
    deviceCode: `canary-device-${overrides.id ?? ofAlice.id}`,
    ...{ createdAt: 1_000, expiresAt: 901_000, intervalMs: 5_000, nextPollAt: 6_000 },
    ...overrides,
  };
}

/** Fills the table up to the bound of all users, oldest first; a statement of both databases. */
export const fillPending = `
  INSERT INTO pending_authorizations (id, user_id, provider, created_at, expires_at)
  WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 10000)
  SELECT 'auth_' || n, '${alice.id}', '${provider}', n, 900000 FROM numbers`;

/** Adds one more, after `fillPending`. */
export async function expectOldestGone({ pendingAuthorizations }: Store): Promise<void> {
  const one = deviceFlow({ id: 'auth_more', userId: bob.id, createdAt: 20_000 });
  const isThere = async (id: string) =>
    (await pendingAuthorizations.progress({ ...ofAlice, id }, 20_000)) !== null;
  expect(await isThere('auth_1')).toBe(true);
  await pendingAuthorizations.addDevice(one);
  expect(await isThere('auth_1')).toBe(false);
  expect(await isThere('auth_2')).toBe(true);
  expect(await pendingAuthorizations.progress(one, 20_000)).not.toBeNull();
}

/** @param create Makes an empty store; the suite closes it. */
export function pendingAuthorizationConformance(name: string, create: StoreFactory): void {
  let store: Store;
  let flows: Store['pendingAuthorizations'];

  beforeEach(async () => {
    store = await create();
    flows = store.pendingAuthorizations;
    await store.users.insertUser(alice);
    await store.users.insertUser(bob);
    onTestFinished(() => store.close());
  });

  const isThere = async (flow: { id: string; userId: string; provider: string }, now = 2_000) =>
    (await flows.progress(flow, now)) !== null;

  describe(`${name}: an authorization under way in a browser`, () => {
    it('is shown again while it lasts until the given time, to its user and at its provider', async () => {
      const first = browserFlow();
      expect(await flows.addBrowser(first, 301_000)).toEqual(first);
      const next = browserFlow({ id: 'auth_b', createdAt: 2_000, expiresAt: 602_000 });
      expect(await flows.addBrowser(next, 601_000)).toEqual(first);
      expect(await isThere(next)).toBe(false);
      expect(await flows.addBrowser(next, 601_001)).toEqual(next);
      for (const other of [{ userId: bob.id }, { provider: elsewhere }]) {
        const own = browserFlow({ id: `auth_of ${JSON.stringify(other)}`, ...other });
        expect(await flows.addBrowser(own, 2_000)).toEqual(own);
      }
    });

    it('is one for calls at once', async () => {
      const begun = await Promise.all(
        Array.from({ length: 8 }, (_, n) => flows.addBrowser(browserFlow({ id: `auth_${n}` }), 301_000)),
      );
      expect(new Set(begun.map(({ id }) => id)).size).toBe(1);
      expect(new Set(begun.map(({ state }) => state)).size).toBe(1);
    });

    it('is found by its state until it expires, at its provider alone', async () => {
      const flow = browserFlow();
      await flows.addBrowser(flow, 301_000);
      const { state } = flow;
      const { id, email } = alice;
      expect(await flows.userOf(state, provider, 600_999)).toEqual({ id, name: 'Alice', email });
      for (const [wrong, at, now] of [
        [state, provider, 601_000],
        [state, elsewhere, 2_000],
        [state.toUpperCase(), provider, 2_000],
        ['', provider, 2_000],
      ] as const) {
        expect(await flows.userOf(wrong, at, now)).toBeNull();
        expect(await flows.take(wrong, at, now)).toBeNull();
      }
    });

    it('is taken by its state once, also by many at once, and not shown again then', async () => {
      const flow = browserFlow();
      await flows.addBrowser(flow, 301_000);
      const taken = await Promise.all(
        Array.from({ length: 8 }, () => flows.take(flow.state, provider, 2_000)),
      );
      const { id, name: named, email } = alice;
      const user = { id, name: named, email };
      expect(taken.filter((each) => each !== null)).toEqual([
        { id: flow.id, user, verifier: 'canary-verifier-auth_a' },
      ]);
      expect(await flows.userOf(flow.state, provider, 2_000)).toBeNull();
      expect(await flows.progress(flow, 2_000)).toEqual({ expiresAt: 601_000, polls: null, outcome: null });
      const next = browserFlow({ id: 'auth_b' });
      expect(await flows.addBrowser(next, 301_000)).toEqual(next);
    });

    it('is over once it is decided: its state leads nowhere', async () => {
      const flow = browserFlow();
      await flows.addBrowser(flow, 301_000);
      await flows.decide(flow.id, { status: 'denied', reason: 'no' });
      expect(await flows.userOf(flow.state, provider, 2_000)).toBeNull();
      const next = browserFlow({ id: 'auth_b' });
      expect(await flows.addBrowser(next, 301_000)).toEqual(next);
    });
  });

  describe(`${name}: an authorization under way by device code`, () => {
    it('is polled by one of many at once, who then has the code', async () => {
      const flow = deviceFlow();
      await flows.addDevice(flow);
      const claims = await Promise.all(
        Array.from({ length: 8 }, () => flows.claimPoll(flow.id, 6_000, 40_000)),
      );
      expect(claims.filter((code) => code !== null)).toEqual(['canary-device-auth_a']);
      expect(await flows.progress(flow, 2_000)).toMatchObject({
        polls: { intervalMs: 5_000, nextPollAt: 40_000 },
      });
      expect(await flows.claimPoll('auth_none', 6_000, 40_000)).toBeNull();
      // The one who has the turn is gone: it ends by itself.
      expect(await flows.claimPoll(flow.id, 40_000, 80_000)).toBe('canary-device-auth_a');
    });

    it('has the times that the last turn gave it, and not those of a turn that was lost', async () => {
      const flow = deviceFlow();
      await flows.addDevice(flow);
      await flows.claimPoll(flow.id, 6_000, 40_000);
      await flows.claimPoll(flow.id, 40_000, 80_000);
      await flows.endPoll(flow.id, 40_000, { intervalMs: 1, nextPollAt: 2, expiresAt: 3 });
      expect(await flows.progress(flow, 2_000)).toMatchObject({ polls: { nextPollAt: 80_000 } });
      const next = { intervalMs: 10_000, nextPollAt: 60_000, expiresAt: 800_000 };
      await flows.endPoll(flow.id, 80_000, next);
      expect(await flows.progress(flow, 2_000)).toEqual({
        expiresAt: 800_000,
        polls: { intervalMs: 10_000, nextPollAt: 60_000 },
        outcome: null,
      });
    });

    it('keeps its first outcome, and is polled no more', async () => {
      const flow = deviceFlow();
      await flows.addDevice(flow);
      await flows.claimPoll(flow.id, 6_000, 40_000);
      await flows.decide(flow.id, { status: 'authorized', account });
      await flows.decide(flow.id, { status: 'denied', reason: 'late' });
      expect(await flows.progress(flow, 2_000)).toMatchObject({ outcome: { status: 'authorized', account } });
      expect(await flows.claimPoll(flow.id, 40_000, 80_000)).toBeNull();
    });
  });

  describe(`${name}: authorizations under way`, () => {
    it('are shown to their user alone, at their provider, until ten minutes after their end', async () => {
      const flow = deviceFlow();
      await flows.addDevice(flow);
      const last = 901_000 + 10 * MINUTE - 1;
      expect(await isThere(flow, last)).toBe(true);
      expect(await isThere(flow, last + 1)).toBe(false);
      expect(await isThere({ ...flow, userId: bob.id })).toBe(false);
      expect(await isThere({ ...flow, provider: elsewhere })).toBe(false);
      expect(await isThere({ ...flow, id: 'auth_none' })).toBe(false);
    });

    it('are eight of one user: the oldest goes, and nobody else’s', async () => {
      const ids = Array.from({ length: 9 }, (_, n) => `auth_${n}`);
      await flows.addDevice(deviceFlow({ id: 'auth_of_bob', userId: bob.id, createdAt: 1 }));
      for (const id of ids) await flows.addDevice(deviceFlow({ id }));
      const there = await Promise.all(ids.map((id) => isThere(deviceFlow({ id }))));
      expect(there).toEqual([false, ...Array(8).fill(true)]);
      expect(await isThere(deviceFlow({ id: 'auth_of_bob', userId: bob.id }))).toBe(true);
    });

    it('that ended long ago go first, so that they take no room', async () => {
      const old = { createdAt: 2_000, expiresAt: 3_000 };
      const living = Array.from({ length: 5 }, (_, n) => deviceFlow({ id: `auth_${n}` }));
      for (const flow of living) await flows.addDevice(flow);
      for (const id of ['auth_x', 'auth_y', 'auth_z']) await flows.addDevice(deviceFlow({ id, ...old }));
      const late = 3_000 + 10 * MINUTE;
      await flows.addDevice(deviceFlow({ id: 'auth_new', createdAt: late }));
      // Asked for a time at which each would still be shown.
      for (const flow of living) expect(await isThere(flow), flow.id).toBe(true);
      for (const id of ['auth_x', 'auth_y', 'auth_z']) expect(await isThere(deviceFlow({ id }))).toBe(false);
      expect(await isThere(deviceFlow({ id: 'auth_new' }))).toBe(true);
    });
  });
}
