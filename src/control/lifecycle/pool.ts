/**
 * Warm pool: sandboxes of the base image created ahead of time. They are rows like any other, without an owner, so a
 * crash loses none and leaks none.
 */
import { newSandboxId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import { BASE_IMAGE, defaultResources } from '../images/base-image.ts';
import type { Clock, Images, Log, Replicas, Runtime, SandboxStore } from '../ports/index.ts';
import { assertRoomToStart } from './capacity.ts';
import type { Machines } from './machines.ts';

export interface WarmPoolDependencies {
  store: SandboxStore;
  runtime: Runtime;
  images: Images;
  machines: Machines;
  regionId: string;
  clock: Clock;
  log: Log;
  replicas: Pick<Replicas, 'isMine'>;
  /** Number of ready sandboxes; 0 turns the pool off. */
  size: number;
}

/** Serves a burst of claims before it refills the pool. */
const REFILL_DELAY_MS = 250;
const RETRY_DELAY_MS = 10_000;

export class WarmPool {
  readonly #d: WarmPoolDependencies;
  #timer: NodeJS.Timeout | null = null;
  #filling: Promise<void> | null = null;
  #closed = false;

  constructor(dependencies: WarmPoolDependencies) {
    this.#d = dependencies;
  }

  /** Schedules a refill; every call restarts the delay. */
  refill(delayMs = REFILL_DELAY_MS): void {
    if (this.#closed || this.#d.size === 0 || !this.#d.replicas.isMine('warm pool')) return;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#filling ??= this.#fill().finally(() => {
        this.#filling = null;
      });
    }, delayMs);
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#filling;
  }

  /** Closes the pool and deletes its waiting sandboxes. */
  async discard(): Promise<void> {
    await this.close();
    for (const sandbox of await this.#d.store.pool()) await this.#d.machines.discard(sandbox);
  }

  async #fill(): Promise<void> {
    try {
      await this.#d.images.use({ reference: BASE_IMAGE }, async ({ digest }) => {
        while (!this.#closed && this.#timer === null && this.#d.replicas.isMine('warm pool')) {
          const ready = await this.#d.store.pool();
          if (ready.length >= this.#d.size) return;
          await assertRoomToStart(this.#d.runtime, defaultResources);
          await this.#makeOne(digest);
        }
      });
    } catch (error) {
      this.#d.log.warn('warm pool could not be filled', { error });
      this.refill(RETRY_DELAY_MS);
    }
  }

  async #makeOne(imageDigest: string): Promise<void> {
    const sandbox = poolSandbox(newSandboxId(), imageDigest, this.#d.regionId, this.#d.clock.now());
    await this.#d.store.insert(sandbox);
    await this.#d.machines.create(sandbox);
  }
}

function poolSandbox(id: string, imageDigest: string, regionId: string, now: number): Sandbox {
  return {
    id,
    ownerId: null,
    name: id,
    state: 'stopped',
    operation: 'creating',
    holder: null,
    stateReason: null,
    generation: 1,
    runGeneration: null,
    language: 'python',
    snapshot: null,
    image: BASE_IMAGE,
    imageDigest,
    entrypoint: null,
    resources: defaultResources,
    resizeTarget: null,
    labels: {},
    envVars: {},
    autoStopMinutes: 0,
    autoArchiveMinutes: limits.autoArchiveMinutes.default,
    autoDeleteMinutes: limits.autoDeleteMinutes.default,
    ephemeral: false,
    regionId,
    archive: null,
    creationKey: null,
    createdAt: now,
    updatedAt: now,
    lastActivityAt: now,
    startedAt: null,
    stoppedAt: null,
    archivedAt: null,
  };
}
