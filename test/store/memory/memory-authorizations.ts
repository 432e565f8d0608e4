/** Authorizations at the provider, in the plainest way there is. */
import type { Store } from '../../../src/control/ports/index.ts';
import type { Authorization } from '../../../src/model/provider.ts';

export function memoryAuthorizations(): Pick<Store, 'authorizations'> {
  let rows: Authorization[] = [];
  const is = (userId: string, provider: string) => (row: Authorization) =>
    row.userId === userId && row.provider === provider;
  return {
    authorizations: {
      get: async (userId, provider) => structuredClone(rows.find(is(userId, provider)) ?? null),
      list: async (userId) =>
        structuredClone(rows.filter((row) => row.userId === userId)).sort((a, b) =>
          a.provider < b.provider ? -1 : 1,
        ),
      put: async (authorization) => {
        const { userId, provider } = authorization;
        rows = [...rows.filter((row) => !is(userId, provider)(row)), structuredClone(authorization)];
      },
      renew: async (id, tokens, now) => {
        const row = rows.find((each) => each.id === id);
        if (row) Object.assign(row, { tokens: structuredClone(tokens), updatedAt: now });
        return row !== undefined;
      },
      remove: async (id) => {
        const before = rows.length;
        rows = rows.filter((row) => row.id !== id);
        return rows.length < before;
      },
    },
  };
}
