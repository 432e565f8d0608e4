/** Changes of files inside a machine, as its agent sees them. */
import type { AsUser } from './processes.ts';

export type FileChange =
  /** Changes were missed: whoever follows a folder lists it again. */
  | { type: 'overflow' }
  | { type: 'created' | 'written' | 'removed' | 'attributes'; path: string; folder: boolean }
  | { type: 'renamed'; path: string; from: string; folder: boolean };

export interface WatchRequest extends AsUser {
  /** A folder. Paths of changes begin as those of `find` do. */
  path: string;
  /** Also folders below it, and those that come later. */
  recursive: boolean;
}

/** Receives what one watch sees, in order. */
export interface WatchSink {
  /** From now on no change is missed in silence. */
  begun(): void;
  /** Resolves when there is room for more; undefined: at once. Without room, the agent drops changes and says so. */
  changed(changes: FileChange[]): Promise<void> | undefined;
}

export interface AgentWatching {
  /**
   * Resolves when the path names the folder no more. Aborting the signal ends the watch. Errors: as those of `find`;
   * `resource_exhausted` past a bound; `failed_precondition` for a folder of which the kernel reports no changes, and with
   * `resource` `agent` from an agent that cannot watch.
   */
  watchFiles(id: string, request: WatchRequest, sink: WatchSink, signal?: AbortSignal): Promise<void>;
}
