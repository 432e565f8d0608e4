/** Queries that several screens share, under the keys that changes invalidate. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { administration } from './administration.ts';
import { client } from './client.ts';
import { queryClient, signInKey } from './query-client.ts';
import { type SandboxList, sandboxesKey, walkSandboxes } from './sandbox-list.ts';
import { currentSignIn } from './sign-in.ts';
import { listWays, ownWays } from './ways.ts';

export const signInQuery = queryOptions({
  queryKey: signInKey,
  queryFn: currentSignIn,
  staleTime: 5 * 60_000,
});

export const waysQuery = queryOptions({
  queryKey: ['ways'],
  queryFn: listWays,
  staleTime: Number.POSITIVE_INFINITY,
});

export const ownWaysQuery = queryOptions({ queryKey: ['own-ways'], queryFn: ownWays.list });

const LONG_LIST = 1_000;

export const sandboxesQuery = queryOptions<SandboxList>({
  queryKey: sandboxesKey,
  queryFn: ({ signal }) => walkSandboxes(queryClient, signal),
  // A long list is many requests.
  staleTime: ({ state }) => ((state.data?.total ?? 0) > LONG_LIST ? 5 * 60_000 : 30_000),
});

export const sandboxQuery = (id: string) =>
  queryOptions({
    queryKey: ['sandbox', id],
    queryFn: ({ signal }) => client.getSandbox({ sandbox: id }, { signal }),
  });

export const usageHistoryQuery = (id: string) =>
  queryOptions({
    queryKey: ['usage-history', id],
    queryFn: () => client.sandbox(id).usageHistory(),
  });

const MOST_SNAPSHOTS = 2_000;

export const snapshotsQuery = queryOptions({
  queryKey: ['snapshots'],
  queryFn: async ({ signal }) => {
    const found = [];
    for await (const snapshot of client.iterate.listSnapshots({ page_size: 100 }, { signal })) {
      found.push(snapshot);
      if (found.length === MOST_SNAPSHOTS) break;
    }
    return found;
  },
});

export const usersQuery = queryOptions({ queryKey: ['users'], queryFn: administration.listUsers });
export const teamsQuery = queryOptions({ queryKey: ['teams'], queryFn: administration.listTeams });
/** For whom the calls of this tab are. */
export const actingQuery = queryOptions({ queryKey: ['acting'], queryFn: () => client.whoAmI() });
export const everybodyQuery = infiniteQueryOptions({
  queryKey: ['everybody'],
  queryFn: ({ pageParam }) => administration.listAllSandboxes(pageParam),
  initialPageParam: 1,
  getNextPageParam: ({ total_pages: pages }, _all, page) => (page < pages ? page + 1 : undefined),
});
export const keysQuery = queryOptions({ queryKey: ['keys'], queryFn: administration.listKeys });
export const healthQuery = queryOptions({
  queryKey: ['health', 'operator'],
  queryFn: administration.getHealth,
  staleTime: 0,
});
