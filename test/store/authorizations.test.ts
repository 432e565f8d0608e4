/** Authorizations at the code-hosting provider: one for each user and provider, and no token in plain. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../src/control/ports/index.ts';
import type { Authorization } from '../../src/model/provider.ts';
import { secretsOf } from '../../src/store/secrets.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { alice, bob, temporaryDirectory } from './fixtures.ts';
import { memoryStore } from './memory/memory-store.ts';

const secrets = secretsOf(Buffer.alloc(32, 7));
const provider = 'https://github.com';

function authorization(overrides: Partial<Authorization> = {}): Authorization {
  return {
    id: 'auth_1',
    userId: alice.id,
    provider,
    account: { id: '7', login: 'alice-at-work' },
    tokens: {
      accessToken: 'canary-access-1',
      accessExpiresAt: 5_000,
      refreshToken: 'canary-refresh-1',
      refreshExpiresAt: 9_000,
      scopes: ['repo'],
    },
    createdAt: 1_000,
    updatedAt: 1_000,
    ...overrides,
  };
}

const withoutRefresh = {
  accessToken: 'canary-access-2',
  accessExpiresAt: null,
  refreshToken: null,
  refreshExpiresAt: null,
  scopes: [],
};

async function sqlite(file = join(temporaryDirectory(), 'sandhaven.db')): Promise<Store> {
  const store = await openSqliteStore({ file, secrets });
  onTestFinished(() => store.close());
  await store.users.insertUser(alice);
  await store.users.insertUser(bob);
  return store;
}

describe.each([
  ['SQLite', () => sqlite()],
  ['the model in memory', async () => memoryStore()],
])('authorizations in %s', (_name, open) => {
  it('are given back as they were put, to their user and for their provider', async () => {
    const { authorizations } = await open();
    await authorizations.put(authorization());
    await authorizations.put(
      authorization({ id: 'auth_2', provider: 'https://git.example.org', tokens: withoutRefresh }),
    );
    expect(await authorizations.get(alice.id, provider)).toEqual(authorization());
    expect(await authorizations.get(bob.id, provider)).toBeNull();
    expect(await authorizations.get(alice.id, 'https://other.example.org')).toBeNull();
    expect((await authorizations.list(alice.id)).map(({ id }) => id)).toEqual(['auth_2', 'auth_1']);
    expect(await authorizations.list(bob.id)).toEqual([]);
  });

  it('take the place of an earlier one of the same user and provider', async () => {
    const { authorizations } = await open();
    await authorizations.put(authorization());
    await authorizations.put(authorization({ id: 'auth_2', tokens: withoutRefresh }));
    expect(await authorizations.list(alice.id)).toEqual([
      authorization({ id: 'auth_2', tokens: withoutRefresh }),
    ]);
  });

  it('are renewed while they are there, and not brought back when they are gone', async () => {
    const { authorizations } = await open();
    await authorizations.put(authorization());
    expect(await authorizations.renew('auth_1', withoutRefresh, 2_000)).toBe(true);
    const renewed = authorization({ tokens: withoutRefresh, updatedAt: 2_000 });
    expect(await authorizations.get(alice.id, provider)).toEqual(renewed);
    expect(await authorizations.remove('auth_1')).toBe(true);
    expect(await authorizations.remove('auth_1')).toBe(false);
    expect(await authorizations.renew('auth_1', withoutRefresh, 3_000)).toBe(false);
    expect(await authorizations.get(alice.id, provider)).toBeNull();
  });
});

describe('the file', () => {
  it('[WIRE-GIT-14] holds no token in plain', async () => {
    const file = join(temporaryDirectory(), 'sandhaven.db');
    const { authorizations } = await sqlite(file);
    await authorizations.put(authorization());
    const bytes = Buffer.concat([readFileSync(file), readFileSync(`${file}-wal`)]).toString('latin1');
    expect(bytes).toContain('alice-at-work');
    expect(bytes).not.toContain('canary-');
  });
});
