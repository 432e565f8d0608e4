/** Tokens of one sandbox: whom they stand for, and all that ends them. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { SandboxTokens } from '../../../src/control/access/sandbox-tokens.ts';
import { AccessService } from '../../../src/control/access/tokens.ts';
import { CallerRights } from '../../../src/control/callers/caller-rights.ts';
import { IdentityService } from '../../../src/control/callers/identity.ts';
import { Rates } from '../../../src/control/callers/rates.ts';
import type { Store } from '../../../src/control/ports/index.ts';
import { resolveSandbox } from '../../../src/control/turns/resolve.ts';
import { readSandboxToken } from '../../../src/model/sandbox-access.ts';
import type { Account, Caller } from '../../../src/model/user.ts';
import { sandboxId, sandboxRecord } from '../../store/fixtures.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';

const BOX = sandboxId(1);
const OTHER = sandboxId(2);
const MINUTE_MS = 60_000;

const ada: Account = {
  ...{ id: 'user_1', name: 'Ada', email: 'ada@example.org', role: 'member' },
  ...{ createdAt: 0, disabledAt: null, quota: {} },
};
const caller: Caller = {
  ...{ id: ada.id, name: ada.name, email: ada.email, role: 'member', scopes: null },
  ...{ keyId: 'key_0000000000000001', keyExpiresAt: null },
};

let time: { now: number };
let store: Store;
let access: AccessService;
let rights: CallerRights;
let tokens: SandboxTokens;

beforeEach(async () => {
  time = { now: 1_000 };
  const clock = { now: () => time.now };
  store = memoryStore();
  await store.users.insertUser(ada);
  await store.sandboxes.insert(sandboxRecord({ id: BOX, name: 'box', ownerId: ada.id, state: 'started' }));
  await store.sandboxes.insert(
    sandboxRecord({ id: OTHER, name: 'other', ownerId: ada.id, state: 'started' }),
  );
  access = new AccessService({ tokens: store.accessTokens, clock, previewKey: Buffer.alloc(32, 7) });
  rights = new CallerRights(store, clock);
  tokens = new SandboxTokens({ ...store, access, callerRights: rights, clock });
});

const given = async (minutes = 5, by = caller) => (await tokens.create(by, 'box', minutes)).token;

describe('a token of one sandbox', () => {
  it('stands for the owner, with its own id and end, and less than any role', async () => {
    const { token, tokenId, expiresAt } = await tokens.create(caller, 'box', 5);
    expect(expiresAt).toBe(1_000 + 5 * MINUTE_MS);
    expect(await tokens.authenticate(token)).toEqual({
      ...{ id: 'user_1', name: 'Ada', email: 'ada@example.org', role: 'member' },
      ...{ scopes: ['sandboxes:read', 'sandboxes:write'], isNarrow: true },
      ...{ keyId: tokenId, keyExpiresAt: 301_000, only: { sandboxId: BOX, epoch: 0 } },
    });
  });

  it('finds its sandbox by id, by name and unnamed, and no other', async () => {
    const holder = await tokens.authenticate(await given());
    if (!holder) throw new Error('refused');
    for (const reference of [undefined, 'box', BOX])
      expect(await resolveSandbox(store.sandboxes, holder, reference)).toMatchObject({ id: BOX });
    for (const reference of ['other', OTHER, 'nobodys'])
      await expect(resolveSandbox(store.sandboxes, holder, reference)).rejects.toMatchObject({
        ...{ code: 'not_found', message: `There is no sandbox '${reference}'.` },
        fields: { resource: 'sandbox', hint: 'The token opens one sandbox: leave `sandbox` out.' },
      });
  });

  it('ends at its expiry, and no later than the key that made it', async () => {
    const token = await given();
    time.now = 1_000 + 5 * MINUTE_MS - 1;
    expect(await tokens.authenticate(token)).not.toBeNull();
    time.now += 1;
    expect(await tokens.authenticate(token)).toBeNull();
    const short = await given(60, { ...caller, keyExpiresAt: time.now + 10 });
    time.now += 10;
    expect(await tokens.authenticate(short)).toBeNull();
  });

  it('is nothing when a character of it is another', async () => {
    const token = await given();
    for (let at = 0; at < token.length; at++) {
      const other = token.slice(0, at) + (token[at] === 'b' ? 'c' : 'b') + token.slice(at + 1);
      expect(await tokens.authenticate(other), other).toBeNull();
    }
  });

  it('is nothing for another sandbox, with another end, or without one', async () => {
    const token = await given();
    const [, , nonce, , signature] = token.split('_');
    for (const forged of [
      `sbt_${OTHER.slice(3)}${token.slice(20)}`,
      `sbt_${BOX.slice(3)}_${nonce}_zzzzzzzz_${signature}`,
      `sbt_${BOX.slice(3)}_${nonce}_0_${signature}`,
      `sbt_${BOX.slice(3)}_0_0_${signature}`,
      token.toUpperCase(),
      `${token} `,
      '',
    ])
      expect(await tokens.authenticate(forged), forged).toBeNull();
    expect(readSandboxToken(token)).toMatchObject({ sandboxId: BOX, expiresAt: 301_000 });
  });

  it.each([
    ['tokens of the sandbox are revoked', () => access.revoke(BOX, ['token'])],
    ['the sandbox is deleted', () => store.sandboxes.remove(BOX, 1)],
    ['its owner is disabled', () => store.users.updateUser(ada.id, () => ({ disabledAt: 1 }))],
    ['its owner becomes a viewer', () => store.users.updateUser(ada.id, () => ({ role: 'viewer' }))],
  ])('opens nothing once %s', async (_why, end) => {
    const [token, standing] = [await given(), await tokens.standing(caller, 'box')];
    expect(await tokens.authenticate(token)).not.toBeNull();
    expect(await tokens.authenticate(standing)).not.toBeNull();
    await end();
    expect(await tokens.authenticate(token)).toBeNull();
    expect(await tokens.authenticate(standing)).toBeNull();
  });

  it('stays when only SSH, previews or another sandbox lose their tokens', async () => {
    const token = await given();
    await access.revoke(BOX, ['ssh', 'preview']);
    await access.revoke(OTHER, ['token']);
    expect(await tokens.authenticate(token)).not.toBeNull();
  });

  it('takes previews with it, which it may have opened', async () => {
    const { token } = await access.mint(BOX, 'preview', { port: 80, expiresAt: null });
    await access.revoke(BOX, ['token']);
    expect(await access.check('preview', token)).toBeNull();
  });

  it('is the same each time where it stands for as long as the sandbox', async () => {
    const standing = await tokens.standing(caller, 'box');
    expect(standing).toMatch(/^sbt_[0-9a-z]{16}_0_0_[a-z2-7]{26}$/);
    expect(await tokens.standing(caller, BOX)).toBe(standing);
    await access.revoke(BOX, ['token']);
    expect(await tokens.standing(caller, BOX)).not.toBe(standing);
  });
});

describe('calls by tokens', () => {
  it('count to one rate for all sandboxes of an owner, beside those of keys', async () => {
    const unused = {} as never;
    const identity = new IdentityService({
      ...{ keys: unused, use: unused, callerRights: rights, sandboxTokens: tokens, regions: unused },
      ...{ clock: Date, rates: new Rates({ perSecond: 0.001, burst: 2 }, Date) },
    });
    const holders = await Promise.all(
      ['box', 'other'].map(async (name) => tokens.authenticate((await tokens.create(caller, name, 5)).token)),
    );
    for (const holder of holders) identity.count(holder as Caller);
    for (const holder of holders)
      expect(() => identity.count(holder as Caller)).toThrow(
        'The rate limit of this key is 0.001 calls a second',
      );
    identity.count(caller);
  });
});

describe('open work by a token', () => {
  const open = async () => {
    const holder = await tokens.authenticate(await given());
    if (!holder) throw new Error('refused');
    const end = vi.fn();
    return { end, stop: tokens.whileValid(holder, end) };
  };

  it('ends with a revocation, and not with one of previews or of another sandbox', async () => {
    const { end } = await open();
    await access.revoke(BOX, ['preview']);
    await access.revoke(OTHER, ['token']);
    expect(end).not.toHaveBeenCalled();
    await access.revoke(BOX, ['token']);
    expect(end).toHaveBeenCalledOnce();
  });

  it('ends with its owner', async () => {
    const { end } = await open();
    rights.ended(ada.id);
    expect(end).toHaveBeenCalledOnce();
  });

  it('ends when a replica that missed the revocation reads anew', async () => {
    const { end } = await open();
    await store.accessTokens.revoke(BOX, ['token'], time.now);
    await access.recheck();
    expect(end).toHaveBeenCalledOnce();
  });

  it('does not end after it has ended by itself', async () => {
    const { end, stop } = await open();
    stop();
    await access.revoke(BOX, ['token']);
    rights.ended(ada.id);
    expect(end).not.toHaveBeenCalled();
  });
});

describe("a token of a team's sandbox", () => {
  it('stands for the team', async () => {
    await store.teams.insert({ id: 'team_0000000000000001', name: 'red', createdAt: 0, quota: {} });
    const id = sandboxId(3);
    await store.sandboxes.insert(sandboxRecord({ id, name: 'shared', ownerId: 'team_0000000000000001' }));
    const member: Caller = { ...caller, team: { id: 'team_0000000000000001', name: 'red', role: 'member' } };
    const { token } = await tokens.create(member, 'shared', 5);
    expect(await tokens.authenticate(token)).toMatchObject({ id: 'team_0000000000000001', name: 'red' });
    // As when a member leaves: tokens name no person.
    await access.revoke(id, ['ssh', 'preview', 'token']);
    expect(await tokens.authenticate(token)).toBeNull();
  });
});
