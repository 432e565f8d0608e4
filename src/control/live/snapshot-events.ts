/**
 * Changes of snapshots for those who follow their owner, and how far the work on them has come. Replicas tell each other: the
 * one that makes a snapshot is seldom the one that somebody looks at.
 */
import type { Snapshot } from '../../model/snapshot.ts';
import { ownerIdOf, type User } from '../../model/user.ts';
import type { Log, OnProgress, Replicas, SnapshotStore } from '../ports/index.ts';

export type SnapshotProgress = Parameters<OnProgress>[0];

export interface SnapshotFollower {
  snapshotChanged(snapshot: Snapshot): void;
  snapshotGone(id: string): void;
  snapshotProgress(id: string, progress: SnapshotProgress): void;
}

export interface SnapshotEventsDependencies {
  store: Pick<SnapshotStore, 'find'>;
  replicas: Pick<Replicas, 'tell' | 'onTold'>;
  log: Log;
}

/** Message to other replicas. Without progress: the row has changed, or is gone. */
interface Told {
  owner: string;
  id: string;
  progress?: SnapshotProgress;
}

export class SnapshotEvents {
  readonly #deps: SnapshotEventsDependencies;
  readonly #followers = new Map<string, Set<SnapshotFollower>>();

  constructor(dependencies: SnapshotEventsDependencies) {
    this.#deps = dependencies;
    dependencies.replicas.onTold('snapshot', (text) => void this.#hear(JSON.parse(text) as Told));
  }

  /**
   * Follows the snapshots of the user, or of the team that the user acts for.
   * @returns Ends it.
   */
  follow(user: User, follower: SnapshotFollower): () => void {
    const owner = ownerIdOf(user);
    const followers = this.#followers.get(owner) ?? new Set();
    this.#followers.set(owner, followers.add(follower));
    return () => {
      followers.delete(follower);
      if (followers.size === 0 && this.#followers.get(owner) === followers) this.#followers.delete(owner);
    };
  }

  /** Notes a committed write. */
  changed(snapshot: Snapshot): void {
    const { ownerId: owner, id } = snapshot;
    for (const follower of this.#of(owner)) follower.snapshotChanged(snapshot);
    this.#tell({ owner, id });
  }

  gone({ ownerId: owner, id }: Snapshot): void {
    for (const follower of this.#of(owner)) follower.snapshotGone(id);
    this.#tell({ owner, id });
  }

  progress({ ownerId: owner, id }: Snapshot, progress: SnapshotProgress): void {
    for (const follower of this.#of(owner)) follower.snapshotProgress(id, progress);
    this.#tell({ owner, id, progress });
  }

  #of(owner: string): Iterable<SnapshotFollower> {
    return this.#followers.get(owner) ?? [];
  }

  #tell(told: Told): void {
    this.#deps.replicas.tell('snapshot', JSON.stringify(told));
  }

  async #hear({ owner, id, progress }: Told): Promise<void> {
    if (!this.#followers.has(owner)) return;
    if (progress) {
      for (const follower of this.#of(owner)) follower.snapshotProgress(id, progress);
      return;
    }
    try {
      const snapshot = await this.#deps.store.find(owner, id);
      for (const follower of this.#of(owner)) {
        if (snapshot) follower.snapshotChanged(snapshot);
        else follower.snapshotGone(id);
      }
    } catch (error) {
      this.#deps.log.warn('a changed snapshot could not be read for those who follow it', {
        snapshot: id,
        error,
      });
    }
  }
}
