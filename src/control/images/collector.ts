/**
 * Removes images that no sandbox and no snapshot has used for a while, immediately when the disk is short of space, and
 * captured disks whose snapshots are gone.
 */
import type { Clock, Images, Log, Replicas, Runtime, SnapshotStore } from '../ports/index.ts';

export interface ImageCollectorDependencies {
  store: Pick<SnapshotStore, 'imagesInUse' | 'withDisks'>;
  images: Pick<Images, 'collect'>;
  runtime: Pick<Runtime, 'capacity' | 'captures'>;
  replicas: Pick<Replicas, 'isMine'>;
  clock: Clock;
  log: Log;
  /** Retention of an unused image. */
  keptMs: number;
  intervalMs: number;
  /** Gives up what can be made again, while the host's disk is short of room. */
  onShort(): Promise<void>;
}

export class ImageCollector {
  readonly #deps: ImageCollectorDependencies;
  #timer: NodeJS.Timeout | null = null;
  #turn: Promise<void> | null = null;

  constructor(dependencies: ImageCollectorDependencies) {
    this.#deps = dependencies;
  }

  /** Collects now, then at every interval. */
  begin(): void {
    this.#timer = setInterval(() => void this.turn(), this.#deps.intervalMs);
    void this.turn();
  }

  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    await this.#turn;
  }

  /** Collects once; a call during a collection joins it. */
  turn(): Promise<void> {
    this.#turn ??= this.#collect()
      .catch((error: unknown) => this.#deps.log.error('images could not be collected', { error }))
      .finally(() => {
        this.#turn = null;
      });
    return this.#turn;
  }

  async #collect(): Promise<void> {
    const { store, images, runtime, replicas, clock, keptMs, log } = this.#deps;
    if (!replicas.isMine('unused images')) return;
    await runtime.captures?.collect(() => store.withDisks());
    const { freeDiskBytes, reserveDiskBytes } = await runtime.capacity();
    const short = freeDiskBytes < reserveDiskBytes;
    if (short) {
      log.warn('disk space is short: removing all unused images, and kept steps of builds', {
        freeDiskBytes,
      });
      await this.#deps.onShort();
    }
    await images.collect({
      inUse: () => store.imagesInUse(),
      unusedSince: clock.now() - (short ? 0 : keptMs),
      thoroughly: short,
    });
  }
}
