/** Changes of files of a sandbox, as they happen. */
import type { Connection } from './connection.ts';
import { foreignAnswer, fromProblem } from './errors.ts';
import type { ServerEvent } from './events.ts';
import { readReconnecting } from './reconnecting.ts';

export type FileChange =
  /** The folder is watched from here on; the first of all. */
  | { type: 'ready' }
  /** Changes may have been missed: list what you follow. */
  | { type: 'overflow' }
  | { type: 'created' | 'written' | 'removed' | 'attributes'; path: string; folder: boolean }
  | { type: 'renamed'; path: string; from: string; folder: boolean };

export interface WatchOptions {
  /** Also folders below it, and those that come later. */
  recursive?: boolean;
  /** Linux user, from its home; by default the sandbox's. */
  user?: string;
  /** Ends the watch; its reason is thrown. */
  signal?: AbortSignal;
}

/** Ends when the folder is gone. A connection that breaks is made again, and an `overflow` comes in its place. */
export async function* watchFiles(
  connection: Connection,
  sandbox: string,
  path: string,
  { recursive = false, user, signal }: WatchOptions,
): AsyncGenerator<FileChange, void, undefined> {
  const query = new URLSearchParams({ path, recursive: String(recursive) });
  if (user !== undefined) query.set('user', user);
  const route = `/v1/sandboxes/${encodeURIComponent(sandbox)}/files/watch?${query}`;
  let hasBegun = false;
  const events = readReconnecting(connection, {
    path: () => route,
    read: changesOf,
    maxRetries: connection.maxRetries,
    signal,
  });
  for await (const event of events) {
    if (event === 'begin') yield { type: hasBegun ? 'overflow' : 'ready' };
    else if (event === 'gone') return;
    else yield* event;
    hasBegun = true;
  }
}

function changesOf({ event, data }: ServerEvent): FileChange[] | 'begin' | 'gone' | null {
  if (event === 'error') throw fromProblem(JSON.parse(data)) ?? foreignAnswer(200);
  if (event === 'changes') return (JSON.parse(data) as { changes: FileChange[] }).changes;
  if (event === 'begin') return 'begin';
  return event === 'result' ? 'gone' : null;
}
