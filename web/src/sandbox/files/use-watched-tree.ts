/** Renews the folders of the tree that change, while the page is looked at: a watch keeps its sandbox from stopping by itself. */
import { useDocumentVisibility } from '@mantine/hooks';
import { type FileChange, isSandhavenError } from '@sandhaven/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { client } from '../../service/client.ts';
import { absolute, parentOf } from './reading/paths.ts';

/** Changes are gathered for so long: a build makes thousands. */
const GATHERING_MS = 300;

export function useWatchedTree(sandbox: string, root: string): void {
  const queries = useQueryClient();
  const isLookedAt = useDocumentVisibility() === 'visible';
  useEffect(() => {
    if (!isLookedAt) return;
    const left = new AbortController();
    const changed = new Set<string>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const renew = () => {
      timer = undefined;
      for (const folder of changed) {
        const named = folder === ALL ? [] : [folder];
        void queries.invalidateQueries({ queryKey: ['inside', sandbox, 'folder', ...named] });
      }
      changed.clear();
    };
    const note = (change: FileChange) => {
      for (const folder of foldersOf(change)) changed.add(folder);
      timer ??= setTimeout(renew, GATHERING_MS);
    };
    void watch(sandbox, root, note, left.signal);
    return () => {
      clearTimeout(timer);
      left.abort();
    };
  }, [sandbox, root, isLookedAt, queries]);
}

const ALL = '';

function foldersOf(change: FileChange): string[] {
  if (change.type === 'ready' || change.type === 'overflow') return [ALL];
  const paths = change.type === 'renamed' ? [change.path, change.from] : [change.path];
  return paths.map((path) => parentOf(absolute(path)));
}

/** Without a watch the tree is as it was before there were any, so no failure is shown. A large tree is watched at its top. */
async function watch(sandbox: string, root: string, note: (change: FileChange) => void, signal: AbortSignal) {
  for (const recursive of [true, false]) {
    try {
      for await (const change of client.files.watch(sandbox, root, { recursive, signal })) note(change);
      return;
    } catch (error) {
      if (!isSandhavenError(error) || error.code !== 'resource_exhausted') return;
    }
  }
}
