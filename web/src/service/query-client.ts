/** The cache of answers. It asks again when the page gets the focus and after own actions, and never polls. */
import { isSandhavenError } from '@sandhaven/sdk';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';

/** Answers younger than this are not asked for again on focus. */
const FRESH_MS = 10_000;

export const signInKey = ['sign-in'] as const;

export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, { queryKey }) => queryKey[0] !== signInKey[0] && whenSignedOut(error),
  }),
  mutationCache: new MutationCache({ onError: whenSignedOut }),
  // The SDK retries where that is safe.
  defaultOptions: {
    queries: { retry: false, staleTime: FRESH_MS, networkMode: 'always' },
    mutations: { networkMode: 'always' },
  },
});

/** The sign-in has ended: the answer to who is signed in shows the way back. */
function whenSignedOut(error: unknown): void {
  if (isSandhavenError(error, 'unauthenticated')) void queryClient.invalidateQueries({ queryKey: signInKey });
}
