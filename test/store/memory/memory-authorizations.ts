/** Authorizations at the provider, in the plainest way there is. */
import type { Store } from '../../../src/control/ports/index.ts';
import type { Authorization } from '../../../src/model/provider.ts';

export function memoryAuthorizations(): Pick<Store, 'authorizations'> {
  let rows: Authorization[] = [];
  /** Ends of turns, by id. */
  const renewing = new Map<string, number>();
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
      takeRenewal: async (id, seen, forMs) => {
        const row = rows.find((each) => each.id === id);
        if (row?.updatedAt !== seen || (renewing.get(id) ?? 0) > Date.now()) return null;
        renewing.set(id, Date.now() + forMs);
        return Date.now() + forMs;
      },
      leaveRenewal: async (id, turn) => {
        if (renewing.get(id) === turn) renewing.delete(id);
      },
      renew: async (id, tokens, now) => {
        renewing.delete(id);
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
