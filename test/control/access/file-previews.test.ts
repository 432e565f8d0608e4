/** Passes to single files: who gets one, what it opens, and when it ends. */
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FilePreviews } from '../../../src/control/access/file-previews.ts';
import { AccessService } from '../../../src/control/access/tokens.ts';
import type { Caller } from '../../../src/model/user.ts';
import { sandboxId, sandboxRecord } from '../../store/fixtures.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

const BOX = sandboxId(1);
const caller: Caller = {
  ...{ id: 'user_1', name: 'Ada', email: 'ada@example.org', role: 'member', scopes: null },
  ...{ keyId: 'key_0000000000000001', keyExpiresAt: null },
};

async function setUp({ ownerId = caller.id, hasGateway = true, linuxUser = null as string | null } = {}) {
  const store = memoryStore();
  const box = sandboxRecord({ id: BOX, state: 'started', ownerId, user: linuxUser });
  await store.sandboxes.insert(box);
  const time = { now: 1_000 };
  const clock = { now: () => time.now };
  const access = new AccessService({
    ...{ tokens: store.accessTokens, clock, previewKey: Buffer.alloc(32, 7) },
  });
  const ended = new Set<string>();
  const endings = new Map<() => void, { id: string; keyId: string }>();
  const read: string[] = [];
  const users: (string | null | undefined)[] = [];
  const previews = new FilePreviews({
    uses: {
      run: async (_caller, _reference, work) => work(box),
      connected: async (_id, work) => work(box),
    },
    agent: {
      async stat(_id, { path, user }) {
        users.push(user);
        return { type: path.startsWith('folder') ? 'dir' : 'file' } as never;
      },
      async readStream(_id, { path, user }) {
        read.push(path);
        users.push(user);
        return { size: 3, stream: Readable.from([Buffer.from('abc')]) };
      },
    },
    ...{ access, clock, grants: { note: () => {} } },
    callerRights: {
      whileValid: ({ id, keyId }, end) => {
        endings.set(end, { id, keyId });
        return () => void endings.delete(end);
      },
      isValid: async ({ id, keyId }) => !ended.has(id) && !ended.has(keyId),
    },
    site: () => (hasGateway ? { protocol: 'https', domain: 'previews.example.com', port: 443 } : null),
  });
  return { previews, access, time, ended, endings, read, users, tokens: store.accessTokens };
}

/** A visit that has begun to show its file, and goes on until `finish`. */
async function showing({ previews }: Pick<Awaited<ReturnType<typeof setUp>>, 'previews'>) {
  const admission = await previews.admit(...partsOf((await previews.create(caller, 'box', 'a.png')).url));
  if (!admission) throw new Error('not admitted');
  const begun = Promise.withResolvers<void>();
  const finished = Promise.withResolvers<void>();
  let expired = 0;
  const visit = { address: null, signal: new AbortController().signal, expire: () => void expired++ };
  const whole = previews.visit(admission, visit, () => {
    begun.resolve();
    return finished.promise;
  });
  await Promise.race([begun.promise, whole]);
  const finish = () => {
    finished.resolve();
    return whole;
  };
  return { expired: () => expired, finish };
}

function partsOf(url: string): [token: string, pass: string] {
  const [, token = '', pass = ''] =
    /^https:\/\/file-([a-z2-7]{26})\.previews\.example\.com\/([\w-]+)$/.exec(url) ?? [];
  return [token, pass];
}

describe('an address of a file', () => {
  it('is a site of its own each time, with the type that the name says, for five minutes', async () => {
    const { previews } = await setUp();
    const first = await previews.create(caller, 'box', 'a/Photo.PNG');
    expect(first).toMatchObject({ mediaType: 'image/png', expiresAt: 301_000 });
    const [token, pass] = partsOf(first.url);
    expect(await previews.admit(token, pass)).toMatchObject({ sandboxId: BOX, path: 'a/Photo.PNG' });
    const second = await previews.create(caller, 'box', 'a/Photo.PNG');
    expect(partsOf(second.url)[0]).not.toBe(token);
  });

  it('ends no later than the key that makes it', async () => {
    const { previews } = await setUp();
    const short = { ...caller, keyExpiresAt: 5_000 };
    expect(await previews.create(short, 'box', 'a.pdf')).toMatchObject({ expiresAt: 5_000 });
  });

  it.each(['a.html', 'a', '.png', 'a.png/b', 'a.js', 'a.xhtml', 'a.constructor'])(
    'is refused for %s',
    async (path) => {
      const { previews } = await setUp();
      expect(() => previews.create(caller, 'box', path)).toThrow(
        expect.objectContaining({ code: 'invalid_argument' }),
      );
    },
  );

  it('is refused for a folder, and where no gateway listens', async () => {
    const folder = (await setUp()).previews.create(caller, 'box', 'folder.png');
    await expect(folder).rejects.toMatchObject({ code: 'invalid_argument' });
    const none = (await setUp({ hasGateway: false })).previews.create(caller, 'box', 'a.png');
    await expect(none).rejects.toMatchObject({ code: 'unavailable' });
  });
});

it('a file is read as the user of its sandbox', async () => {
  const { previews, users } = await setUp({ linuxUser: 'ann' });
  await (await showing({ previews })).finish();
  expect(users).toEqual(['ann', 'ann']);
});

describe('a pass', () => {
  it('opens nothing once its time, its key or its user has ended, or previews are revoked', async () => {
    const { previews, access, time, ended } = await setUp();
    const admits = async ([token, pass]: [string, string]) => (await previews.admit(token, pass)) !== null;
    const made = partsOf((await previews.create(caller, 'box', 'a.png')).url);
    expect(await admits(made)).toBe(true);
    for (const id of ['user_1', 'key_0000000000000001']) {
      ended.add(id);
      expect(await admits(made)).toBe(false);
      ended.delete(id);
    }
    time.now = 301_000;
    expect(await admits(made)).toBe(false);
    time.now = 300_999;
    expect(await admits(made)).toBe(true);
    await access.revoke(BOX, ['preview']);
    expect(await admits(made)).toBe(false);
  });

  it('opens a file of a team to who acted for it, and none that has another owner', async () => {
    const team = { id: 'team_0000000000000001', name: 'red', role: 'member' as const };
    const shown = async (ownerId: string, by: Caller) => {
      const { previews, read } = await setUp({ ownerId });
      const [token, pass] = partsOf((await previews.create(by, 'box', 'a.png')).url);
      const admission = await previews.admit(token, pass);
      if (!admission) throw new Error('not admitted');
      const signal = new AbortController().signal;
      await previews.visit(admission, { address: null, signal, expire: () => {} }, async () => {});
      return read;
    };
    expect(await shown(team.id, { ...caller, team })).toEqual(['a.png']);
    await expect(shown(team.id, caller)).rejects.toMatchObject({ code: 'not_found' });
    await expect(shown(caller.id, { ...caller, team })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('opens no other file, and nothing under another signature', async () => {
    const { previews, access } = await setUp();
    const [token, pass] = partsOf((await previews.create(caller, 'box', 'a.png')).url);
    const fields = JSON.parse(Buffer.from(pass, 'base64url').toString());
    const forged = Buffer.from(JSON.stringify([fields[0], 'b.png', ...fields.slice(2)])).toString(
      'base64url',
    );
    expect(await previews.admit(token, forged)).toBeNull();
    expect(await previews.admit('a'.repeat(26), pass)).toBeNull();
    expect(await previews.admit(await access.previewToken(BOX, 80), pass)).toBeNull();
  });

  it.each(['', 'x', '%2e%2e', 'bnVsbA', 'e30', 'W10', 'WzEsMiwzLDQsNV0'])('is not %j', async (text) => {
    const { previews } = await setUp();
    expect(await previews.admit('a'.repeat(26), text)).toBeNull();
  });

  it('opens nothing of a sandbox that has another owner', async () => {
    const { previews, read } = await setUp({ ownerId: 'user_2' });
    const [token, pass] = partsOf((await previews.create(caller, 'box', 'a.png')).url);
    const admission = await previews.admit(token, pass);
    const visit = { address: null, signal: new AbortController().signal, expire: () => {} };
    const visited = previews.visit(admission as never, visit, async () => {});
    await expect(visited).rejects.toMatchObject({ code: 'not_found' });
    expect(read).toEqual([]);
  });

  it('is one of 16 at most that one owner has on the way', async () => {
    const { previews } = await setUp();
    const [token, pass] = partsOf((await previews.create(caller, 'box', 'a.png')).url);
    const admission = await previews.admit(token, pass);
    const visit = { address: null, signal: new AbortController().signal, expire: () => {} };
    const { promise: read, resolve } = Promise.withResolvers<void>();
    const carry = () => previews.visit(admission as never, visit, () => read);
    const visits = Array.from({ length: 16 }, carry);
    await expect(carry()).rejects.toMatchObject({ code: 'resource_exhausted' });
    resolve();
    await Promise.all(visits);
    await carry();
  });
});

describe('a file that is being shown', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  it('ends when previews of the sandbox are revoked', async () => {
    const set = await setUp();
    const { expired, finish } = await showing(set);
    expect(expired()).toBe(0);
    await set.access.revoke(BOX, ['preview']);
    expect(expired()).toBe(1);
    await finish();
  });

  it('ends with the key and the user who made its address', async () => {
    const set = await setUp();
    const { expired, finish } = await showing(set);
    expect([...set.endings.values()]).toEqual([{ id: 'user_1', keyId: 'key_0000000000000001' }]);
    for (const end of set.endings.keys()) end();
    expect(expired()).toBe(1);
    await finish();
  });

  it('ends with its time', async () => {
    const set = await setUp();
    const { expired, finish } = await showing(set);
    set.time.now = 300_999;
    vi.advanceTimersByTime(299_999);
    expect(expired()).toBe(0);
    set.time.now = 301_000;
    vi.advanceTimersByTime(1);
    expect(expired()).toBe(1);
    await finish();
  });

  it('is watched no more once it has been shown', async () => {
    const set = await setUp();
    const { expired, finish } = await showing(set);
    await finish();
    expect(set.endings.size).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
    await set.access.revoke(BOX, ['preview']);
    expect(expired()).toBe(0);
  });

  it('is not read when previews were revoked between its admission and its visit, at another replica', async () => {
    const { previews, tokens, read } = await setUp();
    const admission = await previews.admit(...partsOf((await previews.create(caller, 'box', 'a.png')).url));
    await tokens.revoke(BOX, ['preview'], 1_000);
    const expire = vi.fn();
    const visit = { address: null, signal: new AbortController().signal, expire };
    await previews.visit(admission as never, visit, async () => {});
    expect(expire).toHaveBeenCalledOnce();
    expect(read).toEqual([]);
  });
});
