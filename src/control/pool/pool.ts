/**
 * Warm pool: sandboxes of the base image created ahead of time. They are rows like any other, without an owner, so a
 * crash loses none and leaks none. Between its bounds the pool follows demand: it grows at once, and gives back one
 * sandbox at a time. Of several replicas one fills it; claims go to all.
 */
import { inOwnSpan } from '../../concurrency/span.ts';
import { newSandboxId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import { BASE_IMAGE, defaultResources } from '../base/base-image.ts';
import { assertRoomToStart } from '../lifecycle/capacity.ts';
import type { Machines } from '../lifecycle/machines.ts';
import type { Clock, Images, Log, Replicas, Runtime, SandboxStore } from '../ports/index.ts';
import type { Networks } from '../reach/networks.ts';
import { poolSandbox } from './pool-sandbox.ts';
import { Demand, type PoolBounds, poolSize } from './size.ts';

export interface WarmPoolDependencies {
  store: SandboxStore;
  runtime: Runtime;
  images: Images;
  machines: Machines;
  networks: Pick<Networks, 'usual'>;
  regionId: string;
  clock: Clock;
  log: Log;
  replicas: Pick<Replicas, 'isMine' | 'shared' | 'tell' | 'onTold'>;
  bounds: PoolBounds;
  /** Sandboxes that are made side by side. */
  atOnce: number;
}

/** The pool as this process knows it. */
export interface PoolState extends PoolBounds {
  /** Those that can be claimed, at the last look; null in a replica that does not fill the pool. */
  ready: number | null;
  making: number;
  /** Size that the demand calls for. */
  wanted: number;
}

const { retryMs, shrinkMs, makingsRemembered } = limits.warmPool;

export class WarmPool {
  readonly #deps: WarmPoolDependencies;
  readonly #demand: Demand;
  /** Milliseconds that the latest makings took. */
  readonly #makings: number[] = [];
  readonly #timer = new RefillTimer(() => this.#begin());
  #filling: Promise<void> | null = null;
  /** true: a refill was due while another one was in progress, which may have seen the pool for the last time. */
  #again = false;
  #closed = false;
  #ready: number | null = null;
  #making = 0;
  /** Time at which the pool last gave a sandbox back. */
  #shrunkAt = Number.NEGATIVE_INFINITY;

  constructor(dependencies: WarmPoolDependencies) {
    this.#deps = dependencies;
    const { clock, replicas } = dependencies;
    this.#demand = new Demand(clock, replicas, () => this.refill());
  }

  /** Notes that a caller wants a sandbox that the pool could give, whether it did or was empty; refills it. */
  wanted(): void {
    if (this.#deps.bounds.max === 0) return;
    this.#demand.note();
    this.refill();
  }

  /** Schedules a refill; every call restarts the delay, within a bound. */
  refill(delayMs?: number): void {
    if (this.#isMine) this.#timer.request(delayMs);
  }

  /** Returns what is known without a look at the store. */
  get state(): PoolState {
    const { bounds } = this.#deps;
    const wanted = this.#size;
    if (bounds.max === 0) return { ...bounds, ready: 0, making: 0, wanted };
    return { ...bounds, ready: this.#isMine ? this.#ready : null, making: this.#making, wanted };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#demand.close();
    this.#timer.clear();
    await this.#filling;
  }

  /**
   * Closes the pool and deletes its waiting sandboxes. Those of several replicas stay: they are of the whole installation,
   * and the others give them to callers.
   */
  async discard(): Promise<void> {
    const { store, replicas } = this.#deps;
    await this.close();
    if (replicas.shared) return;
    for (const { imageDigest, resources } of await store.pool())
      await this.#remove(imageDigest, resources.disk);
  }

  #begin(): void {
    if (this.#filling) {
      this.#again = true;
      return;
    }
    this.#again = false;
    this.#filling = this.#fill().finally(() => {
      this.#filling = null;
      if (this.#again) this.refill(0);
    });
  }

  async #fill(): Promise<void> {
    const { images, log } = this.#deps;
    try {
      await images.use({ reference: BASE_IMAGE }, async ({ digest }) => {
        await this.#makeMissing(digest);
        await this.#shrink(digest);
      });
    } catch (error) {
      log.warn('warm pool could not be filled', { error });
      if (this.#isMine) this.#timer.pause(retryMs);
    }
  }

  get #isMine(): boolean {
    return !this.#closed && this.#deps.bounds.max > 0 && this.#deps.replicas.isMine('warm pool');
  }

  /** false while claims come: they go first. */
  get #isIdle(): boolean {
    return this.#isMine && !this.#timer.isSet;
  }

  /**
   * false ends a refill: the pool is closed, another replica's, or a burst of claims goes first. Some are made in any case:
   * claims that come all the time would end each refill before its first.
   */
  #mayGoOn(begun: number): boolean {
    return this.#isIdle || (this.#isMine && begun < this.#deps.atOnce);
  }

  get #size(): number {
    const { bounds } = this.#deps;
    return poolSize(bounds, this.#demand.steps(), Math.max(0, ...this.#makings));
  }

  /** Makes what is missing, some side by side. Resolves or rejects once none is being made. */
  async #makeMissing(imageDigest: string): Promise<void> {
    const { runtime, atOnce } = this.#deps;
    const making = new Set<Promise<void>>();
    const failures: unknown[] = [];
    let begun = 0;
    try {
      while (this.#mayGoOn(begun) && failures.length === 0) {
        // One that is made during the read may count twice, and the next turn sees it.
        const underWay = making.size;
        const ready = await this.#look();
        if (!this.#mayGoOn(begun)) break;
        if (ready.length + underWay >= this.#size && underWay === 0) return;
        if (ready.length + underWay >= this.#size || underWay >= atOnce) {
          if (making.size > 0) await Promise.race(making);
          continue;
        }
        await assertRoomToStart(runtime, defaultResources);
        begun += 1;
        const one = this.#makeOne(imageDigest)
          .catch((error: unknown) => void failures.push(error))
          .finally(() => making.delete(one));
        making.add(one);
      }
    } finally {
      await Promise.all(making);
    }
    if (failures.length > 0) throw failures[0];
  }

  async #makeOne(imageDigest: string): Promise<void> {
    const { store, machines, networks, clock, regionId } = this.#deps;
    const begun = clock.now();
    const sandbox = poolSandbox(newSandboxId(), { imageDigest, network: networks.usual, regionId }, begun);
    this.#making += 1;
    try {
      await inOwnSpan('pool making', { 'sandhaven.sandbox_id': sandbox.id }, async () => {
        await store.insert(sandbox);
        await machines.create(sandbox);
      });
    } finally {
      this.#making -= 1;
    }
    this.#makings.push(clock.now() - begun);
    if (this.#makings.length > makingsRemembered) this.#makings.shift();
  }

  /** Removes one sandbox too many, and looks again later. A pool of a fixed size keeps what it has. */
  async #shrink(imageDigest: string): Promise<void> {
    const { bounds, clock } = this.#deps;
    if (bounds.min === bounds.max || !this.#isIdle) return;
    const ready = await this.#look();
    // Refills between two removals, for claims of callers, remove none. The clock may be set back.
    const sinceLast = clock.now() - this.#shrunkAt;
    const isDue = sinceLast >= shrinkMs || sinceLast < 0;
    if (isDue && ready.length > this.#size && this.#isIdle) {
      this.#shrunkAt = clock.now();
      await this.#remove(imageDigest, defaultResources.disk);
    }
    if (ready.length > bounds.min && this.#isMine) this.#timer.later(shrinkMs);
  }

  async #look(): Promise<Sandbox[]> {
    const ready = await this.#deps.store.pool();
    this.#ready = ready.length;
    return ready;
  }

  /** Removes one that waits. It is claimed for its removal, so that no caller gets it. */
  async #remove(imageDigest: string, diskGb: number): Promise<void> {
    const { store, machines } = this.#deps;
    const spare = await store.claim({ imageDigest, diskGb }, { operation: 'deleting' });
    if (spare) await machines.finish(spare.id);
  }
}

const { refillDelayMs, postponedMs } = limits.warmPool;

/** Time of the next refill: behind a burst of requests, but not for long, and a while after one that failed. */
class RefillTimer {
  readonly #act: () => void;
  #timer: NodeJS.Timeout | null = null;
  /** Bounds the postponement: runs from the first request. */
  #latest: NodeJS.Timeout | null = null;
  #pauses = false;

  constructor(act: () => void) {
    this.#act = act;
  }

  get isSet(): boolean {
    return this.#timer !== null;
  }

  /** Restarts the delay, within the bound. Shortens no pause. */
  request(delayMs: number = refillDelayMs): void {
    if (this.#pauses) return;
    this.#restart(delayMs);
    this.#latest ??= setTimeout(() => this.#fire(), postponedMs);
  }

  /** Acts after that time, unless a request comes first. */
  later(ms: number): void {
    if (!this.isSet) this.#restart(ms);
  }

  /** Acts after that time, however many requests come. */
  pause(ms: number): void {
    this.clear();
    this.#restart(ms);
    this.#pauses = true;
  }

  clear(): void {
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#latest) clearTimeout(this.#latest);
    this.#timer = null;
    this.#latest = null;
    this.#pauses = false;
  }

  #restart(ms: number): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#fire(), ms);
  }

  #fire(): void {
    this.clear();
    this.#act();
  }
}
