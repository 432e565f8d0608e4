import { createHmac, randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { AccessService, accessTokenPattern } from '../../src/control/access/tokens.ts';
import type { Store } from '../../src/control/ports/index.ts';
import { sandboxId, sandboxRecord } from '../store/fixtures.ts';
import { memoryStore } from '../store/memory/memory-store.ts';

const TOKENS_PER_SANDBOX = 256;

const BOX = sandboxId(1);
const previewKey = randomBytes(32);
let now = 1_000;
let store: Store;
let access: AccessService;

beforeEach(async () => {
  now = 1_000;
  store = memoryStore();
  await store.sandboxes.insert(sandboxRecord({ id: BOX }));
  access = new AccessService({ tokens: store.accessTokens, clock: { now: () => now }, previewKey });
});

describe('a token that was minted', () => {
  it('is known by its kind, until the moment that it expires', async () => {
    const { token, record } = await access.mint(BOX, 'preview', { port: 80, expiresAt: 2_000 });
    expect(token).toMatch(accessTokenPattern);
    expect(await access.check('preview', token)).toEqual(record);
    expect(record).toMatchObject({ sandboxId: BOX, port: 80, expiresAt: 2_000, createdAt: 1_000 });
    expect(await access.check('ssh', token)).toBeNull();
    now = 1_999;
    expect(await access.check('preview', token)).not.toBeNull();
    now = 2_000;
    expect(await access.check('preview', token)).toBeNull();
  });

  it('lives without end when it has none', async () => {
    const { token } = await access.mint(BOX, 'ssh', { port: null, expiresAt: null });
    now = 8_640_000_000_000_000;
    expect(await access.check('ssh', token)).toMatchObject({ sandboxId: BOX });
  });

  it('dies with its sandbox', async () => {
    const { token } = await access.mint(BOX, 'ssh', { port: null, expiresAt: null });
    await store.sandboxes.remove(BOX, 1);
    expect(await access.check('ssh', token)).toBeNull();
    await expect(access.mint(BOX, 'ssh', { port: null, expiresAt: null })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('is not in its record', async () => {
    const { token, record } = await access.mint(BOX, 'ssh', { port: null, expiresAt: null });
    expect(JSON.stringify({ ...record, hash: record.hash.toString('latin1') })).not.toContain(token);
  });

  it('is one of a bounded number for each kind; expired ones make room', async () => {
    for (let i = 0; i < TOKENS_PER_SANDBOX; i++) {
      await access.mint(BOX, 'ssh', { port: null, expiresAt: 2_000 });
    }
    const another = () => access.mint(BOX, 'ssh', { port: null, expiresAt: 3_000 });
    await expect(another()).rejects.toMatchObject({
      code: 'resource_exhausted',
      message: expect.stringContaining('SSH tokens'),
      fields: { hint: expect.stringContaining('expire') },
    });
    await access.mint(BOX, 'preview', { port: 1, expiresAt: null });
    now = 2_000;
    await another();
  });
});

describe('one token that is revoked', () => {
  it('ends what is open by it, once, and nothing else', async () => {
    const [one, other] = [
      await access.mint(BOX, 'ssh', { port: null, expiresAt: null }),
      await access.mint(BOX, 'ssh', { port: null, expiresAt: null }),
    ];
    const ended: string[] = [];
    for (const [name, { record }] of Object.entries({ one, other })) {
      access.whileGranted('ssh', BOX, () => void ended.push(name), access.rightOf(record));
    }
    expect(await access.revokeOne(sandboxId(2), one.token)).toBeNull();
    expect(await access.revokeOne(BOX, one.token)).toEqual(one.record);
    expect(ended).toEqual(['one']);
    expect(await access.check('ssh', one.token)).toBeNull();
    expect(await access.check('ssh', other.token)).toEqual(other.record);
    expect(await access.revokeOne(BOX, one.token)).toBeNull();
    await access.revoke(BOX, ['ssh']);
    expect(ended).toEqual(['one', 'other']);
  });

  it('is not counted once it has expired', async () => {
    const { token } = await access.mint(BOX, 'preview', { port: 80, expiresAt: 2_000 });
    now = 2_000;
    expect(await access.revokeOne(BOX, token)).toBeNull();
  });

  it('ends nothing that has left before', async () => {
    const { token, record } = await access.mint(BOX, 'ssh', { port: null, expiresAt: null });
    let ends = 0;
    access.whileGranted('ssh', BOX, () => void ends++, access.rightOf(record))();
    await access.revokeOne(BOX, token);
    await access.revoke(BOX, ['ssh']);
    expect(ends).toBe(0);
  });
});

it.each([
  '',
  'a',
  'A'.repeat(26),
  '1'.repeat(26),
  'a'.repeat(27),
  `${'a'.repeat(25)}\0`,
  `-${'a'.repeat(26)}`,
  `${'a'.repeat(26)}\n`,
])('a token that none can be (%j) is not known', async (token) => {
  expect(await access.check('preview', token)).toBeNull();
  expect(accessTokenPattern.test(token)).toBe(false);
});

describe('the token of a standard preview', () => {
  it('is always the same for one sandbox and port, and another for any other', async () => {
    const token = await access.previewToken(BOX, 80);
    expect(token).toMatch(accessTokenPattern);
    expect(await access.previewToken(BOX, 80)).toBe(token);
    expect(await access.isPreviewToken(BOX, 80, token)).toBe(true);
    expect(await access.isPreviewToken(BOX, 8, token)).toBe(false);
    expect(await access.isPreviewToken(sandboxId(2), 80, token)).toBe(false);
    expect(await access.isPreviewToken(BOX, 80, '')).toBe(false);
    const other = new AccessService({
      tokens: store.accessTokens,
      clock: Date,
      previewKey: randomBytes(32),
    });
    expect(await other.previewToken(BOX, 80)).not.toBe(token);
  });

  it('is what it was in every service with this key so far, so that links stay valid', async () => {
    const key = Buffer.alloc(32, 7);
    const service = new AccessService({ tokens: store.accessTokens, clock: Date, previewKey: key });
    const first = await service.previewToken(BOX, 80);
    expect(first).toBe(derived(key, `${BOX} 80`));
    await service.revoke(BOX, ['preview']);
    expect(await service.previewToken(BOX, 80)).toBe(derived(key, `${BOX} 80 1`));
    expect(await service.isPreviewToken(BOX, 80, first)).toBe(false);
  });

  /** Five bits of each of the first 26 bytes of HMAC-SHA-256, as RFC 4648 writes them in base32. */
  function derived(key: Buffer, text: string): string {
    const digest = createHmac('sha256', key).update(text).digest().subarray(0, 26);
    return [...digest].map((byte) => 'abcdefghijklmnopqrstuvwxyz234567'[byte & 31]).join('');
  }
});
