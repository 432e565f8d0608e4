/** Signed addresses of files: who gets in, for how long, and what ends them. */
import { Readable } from 'node:stream';
import { beforeEach, expect, it } from 'vitest';
import { SignedFiles } from '../../../src/control/access/signed-files.ts';
import type { User } from '../../../src/model/user.ts';
import { sandboxRecord } from '../../store/fixtures.ts';

const NOW = Date.UTC(2026, 0, 1);
const DAYS_7_MS = 604_800_000;
const owner = { id: 'user_1' } as User;

let key: string;
let noted: unknown[];
let asked: unknown[];
let ownerId: string | null;

const files = new SignedFiles({
  uses: {
    find: async (_caller, reference) => sandboxRecord({ id: `sb_${reference}` }),
    connected: async (id, work) => work(sandboxRecord({ id, ownerId, user: 'ann' })),
  },
  agent: {
    async readStream(id, query) {
      asked.push({ id, ...query });
      return { size: 3, stream: Readable.from(['abc']) };
    },
    async write(id, { content: _, ...query }) {
      asked.push({ id, ...query });
      return { bytesWritten: 3, created: true };
    },
  },
  access: {
    signingKey: async (id) => `${key} of ${id}`,
    async rotateSigningKey(id) {
      key = 'next';
      return `${key} of ${id}`;
    },
  },
  grants: { note: (grant) => void noted.push(grant) },
  clock: { now: () => NOW } as never,
});

beforeEach(() => {
  key = 'first';
  noted = [];
  asked = [];
  ownerId = 'user_1';
});

const visit = (given: { by?: string; leftMs?: number } = {}) =>
  files.visit(
    {
      ...{ sandboxId: 'sb_1', path: 'a.txt', address: '192.0.2.1', signal: new AbortController().signal },
      expiresAt: NOW + (given.leftMs ?? 1),
      isSigned: (right) => right === (given.by ?? 'first of sb_1'),
    },
    async (file) => {
      await file.read();
      await file.write(Readable.from([]));
    },
    () => {},
  );

it('a signed address reads and writes its file as the user of the sandbox, and stands in the audit log', async () => {
  await visit();
  expect(asked).toEqual([
    { id: 'sb_1', path: 'a.txt', user: 'ann' },
    { id: 'sb_1', path: 'a.txt', user: 'ann', createParents: true },
  ]);
  expect(noted).toEqual([
    { sandboxId: 'sb_1', ownerId: 'user_1', port: null, tokenId: null, address: '192.0.2.1' },
  ]);
});

it.each([
  ['another key', { by: 'first of sb_2' }],
  ['an end that has come', { leftMs: 0 }],
  ['no end', { leftMs: -NOW }],
  ['an end after more than seven days', { leftMs: DAYS_7_MS + 1 }],
])('is refused with %s, before the sandbox is asked', async (_, given) => {
  await expect(visit(given)).rejects.toMatchObject({ code: 'permission_denied' });
  expect([...asked, ...noted]).toEqual([]);
});

it('lives for seven days at most', async () => {
  await visit({ leftMs: DAYS_7_MS });
  expect(noted).toHaveLength(1);
});

it('ends when the key is rotated', async () => {
  expect(await files.key(owner, '1')).toBe('first of sb_1');
  expect(await files.rotate(owner, '1')).toBe('next of sb_1');
  await expect(visit()).rejects.toMatchObject({ code: 'permission_denied' });
  await visit({ by: 'next of sb_1' });
});

it('opens nothing of a sandbox without an owner', async () => {
  ownerId = null;
  await expect(visit()).rejects.toMatchObject({ code: 'permission_denied' });
});

it('has a share of its owner', async () => {
  const held = Promise.withResolvers<void>();
  const hold = () =>
    files.visit(
      {
        ...{ sandboxId: 'sb_1', path: 'a', address: null, signal: new AbortController().signal },
        ...{ expiresAt: NOW + 1, isSigned: () => true },
      },
      () => held.promise,
      () => {},
    );
  const all = Array.from({ length: 16 }, hold);
  await expect(hold()).rejects.toMatchObject({ code: 'resource_exhausted' });
  held.resolve();
  await Promise.all(all);
  await visit();
});
