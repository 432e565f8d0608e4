/** What is open for a user or a key, and when it ends. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CallerRights } from '../../src/control/callers/caller-rights.ts';
import { KeyUse } from '../../src/control/callers/identity.ts';
import { readingId } from '../../src/model/team.ts';
import type { ApiKey, Caller, Role } from '../../src/model/user.ts';
import { alice } from '../store/fixtures.ts';

const KEY_USE_WRITTEN_MS = 60_000;

beforeEach(() => {
  vi.useFakeTimers({ now: 0, toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const caller: Caller = { ...alice, keyId: 'key_1', keyExpiresAt: null, scopes: null };

function setUp(disabledAt: number | null = null, role: Role = 'admin', hasKey = false) {
  const callerRights = new CallerRights(
    {
      users: { findUser: async () => ({ ...alice, disabledAt, role }) },
      keys: { find: async () => (hasKey ? ({ revokedAt: null } as ApiKey) : null) },
      signIns: { findSignIn: async () => null },
      oauth: { findGrant: async () => null },
      teams: { find: async () => null, membership: async () => null },
    },
    Date,
  );
  const ended: string[] = [];
  const open = (name: string, who: Partial<Caller> = {}) =>
    callerRights.whileValid({ ...caller, ...who }, () => ended.push(name));
  return { callerRights, ended, open };
}

describe('open work of a key', () => {
  it('ends with the key or with its user, and with nothing else', () => {
    const { callerRights, ended, open } = setUp();
    open('one');
    open('two');
    open('other key', { keyId: 'key_2' });
    open('other user', { id: 'user_bob', keyId: 'key_3' });
    open('left')();
    callerRights.ended('key_1');
    expect(ended).toEqual(['one', 'two']);
    callerRights.ended('key_none');
    callerRights.ended(alice.id);
    expect(ended.filter((name) => name.startsWith('other'))).toEqual(['other key']);
  });

  it('[WIRE-AUTH-04] ends at the moment at which the key expires, and not after it was closed', async () => {
    const { ended, open } = setUp();
    open('one', { keyExpiresAt: 1_000 });
    open('closed', { keyExpiresAt: 1_000 })();
    await vi.advanceTimersByTimeAsync(999);
    expect(ended).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(ended).toEqual(['one']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('ends too when it is opened at that very moment', async () => {
    const { callerRights, ended, open } = setUp();
    callerRights.ended('key_1');
    await Promise.resolve().then(() => open('late'));
    expect(ended).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(ended).toEqual(['late']);
    open('later');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(ended).toEqual(['late']);
  });
});

describe('open work of an admin who reads inside', () => {
  const team = { id: 'user_bob', name: 'bob@example.org', role: 'viewer', asAdmin: true } as const;

  it('ends with the role, and leaves other work open', () => {
    const { callerRights, ended, open } = setUp();
    open('own');
    open('inside', { team });
    open('inside of another admin', { id: 'user_carol', keyId: 'key_2', team });
    callerRights.ended(readingId(alice.id));
    expect(ended).toEqual(['inside']);
  });

  it('ends when the role is found to be another, unheard', async () => {
    const { callerRights, ended, open } = setUp(null, 'member', true);
    open('own');
    open('inside', { team });
    await callerRights.recheck();
    expect(ended).toEqual(['inside']);
  });
});

describe('open work in the sandboxes of a user', () => {
  it('ends when the user is disabled', async () => {
    const { callerRights } = setUp();
    const end = vi.fn();
    const stop = await callerRights.whileEnabled(alice.id, end);
    await callerRights.whileEnabled('user_bob', end);
    callerRights.ended('user_carol');
    expect(end).not.toHaveBeenCalled();
    callerRights.ended(alice.id);
    expect(end).toHaveBeenCalledOnce();
    stop();
  });

  it('is not opened while the user is disabled', async () => {
    const { callerRights } = setUp(5);
    const end = vi.fn();
    await expect(callerRights.whileEnabled(alice.id, end)).rejects.toMatchObject({
      code: 'permission_denied',
    });
    callerRights.ended(alice.id);
    expect(end).not.toHaveBeenCalled();
  });
});

describe('open work in the sandboxes of a viewer', () => {
  it('is not opened, since a visitor may do all that an owner may', async () => {
    const { callerRights } = setUp(null, 'viewer');
    await expect(callerRights.whileEnabled(alice.id, () => {})).rejects.toMatchObject({
      code: 'permission_denied',
      message: "The sandbox's owner is a viewer.",
    });
  });
});

describe('the use of keys', () => {
  it('is written at most once a minute, and when it is asked for', async () => {
    vi.setSystemTime(1_000_000);
    const written: [string, number][][] = [];
    const use = new KeyUse({ touch: async (used) => void written.push([...used]) }, Date);
    await use.note('key_1');
    expect(written).toEqual([[['key_1', 1_000_000]]]);
    vi.setSystemTime(1_000_000 + KEY_USE_WRITTEN_MS - 1);
    await use.note('key_1');
    await use.note('key_2');
    expect(written).toHaveLength(1);
    vi.setSystemTime(1_000_000 + KEY_USE_WRITTEN_MS);
    await use.note('key_1');
    expect(written[1]).toEqual([
      ['key_1', 1_000_000 + KEY_USE_WRITTEN_MS],
      ['key_2', 1_000_000 + KEY_USE_WRITTEN_MS - 1],
    ]);
    await use.note('key_2');
    await use.flush();
    expect(written).toHaveLength(3);
  });
});
