/** Gives screens a sandbox's use as it is now. */
import { useCallback, useSyncExternalStore } from 'react';
import { UsageHistories, type UsageHistory } from './usage-histories.ts';

export const usageHistories = new UsageHistories();

export function useUsage(id: string): UsageHistory | null {
  const follow = useCallback((listener: () => void) => usageHistories.follow(id, listener), [id]);
  return useSyncExternalStore(follow, () => usageHistories.get(id));
}
