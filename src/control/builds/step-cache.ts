/**
 * Captured disks of steps, by the keys of the steps: each owner's own, bounded, the one that was used longest ago going first.
 *
 * Invariant: a row goes before its disk, and comes after it. What a kill leaves in between is a disk that no row names, which is
 * collected.
 */
import { limits } from '../../model/limits.ts';
import type { BuildStep, BuildStepStore, CapturedDisks, Clock, Log } from '../ports/index.ts';

export interface StepCacheDependencies {
  store: BuildStepStore;
  clock: Clock;
  log: Pick<Log, 'warn'>;
}

export class StepCache {
  readonly #deps: StepCacheDependencies;
  /** Disks that builds start from, with the number of those builds: they are not dropped meanwhile. */
  readonly #held = new Map<string, number>();
  /** Disks without a row that go when no build holds them any more. */
  readonly #leaving = new Set<string>();

  constructor(dependencies: StepCacheDependencies) {
    this.#deps = dependencies;
  }

  /** Holds the disk of the step, if there is one, for a build. */
  async find(disks: CapturedDisks, ownerId: string, key: string): Promise<BuildStep | null> {
    const { store, clock } = this.#deps;
    const step = await store.find(ownerId, key, clock.now());
    if (!step) return null;
    this.#hold(step.captureId);
    if ((await disks.sizeOf(step.captureId)) !== null) return step;
    // The database came from elsewhere, without its disks.
    await store.remove(step.captureId);
    await this.release(disks, [step.captureId]);
    return null;
  }

  /** Keeps a disk that was captured just now, and holds it for its build. Others of the owner may go for it. */
  async keep(
    disks: CapturedDisks,
    ownerId: string,
    key: string,
    made: { captureId: string; sizeBytes: number },
  ): Promise<void> {
    const { store, clock } = this.#deps;
    this.#hold(made.captureId);
    const replaced = await store
      .put({ ...made, ownerId, key, usedAt: clock.now() })
      .catch(async (error: unknown) => {
        await this.release(disks, [made.captureId]);
        throw error;
      });
    disks.release(made.captureId);
    if (replaced) await this.#drop(disks, replaced.captureId);
    await this.#evict(disks, ownerId);
  }

  /** Lets disks go that a build held. */
  async release(disks: CapturedDisks, captureIds: readonly string[]): Promise<void> {
    for (const captureId of captureIds) {
      const left = (this.#held.get(captureId) ?? 1) - 1;
      if (left > 0) this.#held.set(captureId, left);
      else this.#held.delete(captureId);
      if (left <= 0 && this.#leaving.delete(captureId)) await this.#drop(disks, captureId);
    }
  }

  /** Drops all that no build holds: the host's disk is short of room. */
  async clear(disks: CapturedDisks): Promise<void> {
    for (const { captureId } of await this.#deps.store.all())
      if (!this.#held.has(captureId) && (await this.#deps.store.remove(captureId)))
        await this.#drop(disks, captureId);
  }

  #hold(captureId: string): void {
    this.#held.set(captureId, (this.#held.get(captureId) ?? 0) + 1);
  }

  async #evict(disks: CapturedDisks, ownerId: string): Promise<void> {
    const steps = await this.#deps.store.list(ownerId);
    let bytes = steps.reduce((sum, step) => sum + step.sizeBytes, 0);
    let count = steps.length;
    for (const { captureId, sizeBytes } of steps) {
      if (count <= limits.build.cache.steps && bytes <= limits.build.cache.bytes) return;
      if (this.#held.has(captureId)) continue;
      if (await this.#deps.store.remove(captureId)) await this.#drop(disks, captureId);
      count -= 1;
      bytes -= sizeBytes;
    }
  }

  /** Never rejects: without a row, the disk is collected. */
  async #drop(disks: CapturedDisks, captureId: string): Promise<void> {
    if (this.#held.has(captureId)) {
      this.#leaving.add(captureId);
      return;
    }
    await disks.drop(captureId).catch((error: unknown) => {
      this.#deps.log.warn('the disk of a build step could not be dropped; it is collected later', { error });
    });
  }
}
