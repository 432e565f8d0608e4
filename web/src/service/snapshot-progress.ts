/** Progress of snapshots that are being made, as the service's stream brings it. */
import type { SnapshotProgress } from '@sandhaven/sdk';
import { useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();
let known: ReadonlyMap<string, SnapshotProgress> = new Map();
/** A deleted one is dropped when newer ones come. */
const MOST = 50;

export const snapshotProgress = {
  take(progress: SnapshotProgress): void {
    const others = [...known].filter(([id]) => id !== progress.id).slice(1 - MOST);
    known = new Map([...others, [progress.id, progress]]);
    for (const listener of listeners) listener();
  },
};

/** @returns null for one whose progress is not known. */
export function useSnapshotProgress(id: string): SnapshotProgress | null {
  return useSyncExternalStore(follow, () => known.get(id) ?? null);
}

function follow(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
