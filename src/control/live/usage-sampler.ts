/**
 * Samples what started sandboxes use while somebody looks at them: processor time becomes cores between two samples.
 *
 * Invariant: without a viewer nothing is measured and no timer runs. A turn measures a bounded number, divided among the
 * owners that have viewers, and the next one begins a pause after its end. Some owners are measured side by side, each with
 * a part of the measurements at once, so that slow sandboxes hold up their own owner's figures.
 */
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { mapBounded } from '../../concurrency/in-portions.ts';
import { limits } from '../../model/limits.ts';
import type { Resources, Sandbox } from '../../model/sandbox.ts';
import { ownerIdOf, type User } from '../../model/user.ts';
import type { AgentLink, Clock, Log, SandboxStore, SandboxUsage } from '../ports/index.ts';
import type { Follower, SandboxEvents } from './sandbox-events.ts';

export interface Figures extends SandboxUsage {
  id: string;
  /** Of processors in use on average since the sample before; null in the first one. */
  cores: number | null;
  resources: Resources;
}

export interface UsageViewer {
  usage(figures: Figures[]): void;
}

export interface UsageSamplerDependencies {
  store: Pick<SandboxStore, 'list'>;
  events: Pick<SandboxEvents, 'follow'>;
  measure(id: string): Promise<SandboxUsage>;
  clock: Clock;
  log: Log;
  bounds: { perOwner: number; total: number; atOnce: number };
}

export class UsageSampler {
  readonly #deps: UsageSamplerDependencies;
  readonly #owners = new Map<string, Watched>();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #turn: Promise<void> | null = null;
  #lastTurn = Number.NEGATIVE_INFINITY;

  constructor(dependencies: UsageSamplerDependencies) {
    this.#deps = dependencies;
  }

  /**
   * Shows the started sandboxes that the user works with to the viewer, the newest up to the bound.
   * @returns Ends it.
   */
  async view(user: User, viewer: UsageViewer): Promise<() => void> {
    const owner = ownerIdOf(user);
    const watched = this.#owners.get(owner) ?? new Watched(this.#deps.bounds.perOwner);
    this.#owners.set(owner, watched);
    watched.viewers.add(viewer);
    const end = () => {
      watched.viewers.delete(viewer);
      if (watched.viewers.size > 0) return;
      watched.unfollow?.();
      if (this.#owners.get(owner) === watched) this.#owners.delete(owner);
    };
    try {
      watched.following ??= this.#deps.events.follow(user, watched);
      watched.unfollow = await watched.following;
      // The sampler may have closed meanwhile, which found nothing to end.
      if (this.#owners.get(owner) !== watched) watched.unfollow();
    } catch (error) {
      watched.following = null;
      end();
      throw error;
    }
    const waited = this.#deps.clock.now() - this.#lastTurn;
    if (this.#turn === null) this.#after(Math.max(0, limits.usage.joinMs - waited));
    return end;
  }

  async close(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    for (const { unfollow } of this.#owners.values()) unfollow?.();
    this.#owners.clear();
    await this.#turn;
  }

  #after(ms: number): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = this.#owners.size === 0 ? null : setTimeout(() => this.#begin(), ms);
  }

  #begin(): void {
    this.#timer = null;
    this.#turn = this.#sampleAll().finally(() => {
      this.#turn = null;
      this.#lastTurn = this.#deps.clock.now();
      this.#after(limits.usage.intervalMs);
    });
  }

  async #sampleAll(): Promise<void> {
    const { total, perOwner, atOnce } = this.#deps.bounds;
    const owners = [...this.#owners];
    const side = Math.max(1, Math.min(limits.usage.ownersAtOnce, atOnce, owners.length));
    const share = {
      boxes: Math.max(1, Math.min(perOwner, Math.floor(total / Math.max(1, owners.length)))),
      atOnce: Math.max(1, Math.floor(atOnce / side)),
    };
    await mapBounded(owners, side, async ([owner, watched]) => {
      // The last viewer may have left since the turn began.
      if (this.#owners.get(owner) !== watched) return;
      try {
        await this.#sample(owner, watched, share);
      } catch (error) {
        this.#deps.log.warn('usage of sandboxes could not be sampled', { user: owner, error });
      }
    });
  }

  async #sample(ownerId: string, watched: Watched, share: Share): Promise<void> {
    const { store, bounds } = this.#deps;
    if (watched.isStale) {
      watched.isStale = false;
      const page = { page: 1, pageSize: bounds.perOwner };
      const { sandboxes } = await store.list({ ownerId, state: 'started' }, page).catch((error: unknown) => {
        watched.isStale = true;
        throw error;
      });
      watched.relist(sandboxes);
    }
    const boxes = [...watched.boxes.values()].slice(0, share.boxes);
    const measured = await mapBounded(boxes, share.atOnce, (box) => this.#measure(box));
    const figures = measured.filter((one) => one !== null);
    for (const viewer of watched.viewers) viewer.usage(figures);
  }

  /** Returns null for a sandbox that cannot be measured now. */
  async #measure(box: Box): Promise<Figures | null> {
    // Engines may answer at once, many times in a row.
    await nextTurn();
    const usage = await this.#deps.measure(box.id).catch(() => null);
    if (usage === null) return null;
    const now = this.#deps.clock.now();
    const { last } = box;
    box.last = usage.cpuMs === null ? null : { cpuMs: usage.cpuMs, at: now };
    const isRate = last !== null && usage.cpuMs !== null && usage.cpuMs >= last.cpuMs && now > last.at;
    const cores = isRate ? ((usage.cpuMs ?? 0) - last.cpuMs) / (now - last.at) : null;
    return { id: box.id, resources: box.resources, cores, ...usage };
  }
}

/** Part of a turn that one owner gets. */
interface Share {
  boxes: number;
  atOnce: number;
}

interface Box {
  id: string;
  resources: Resources;
  last: { cpuMs: number; at: number } | null;
}

/** Started sandboxes of one owner who has viewers. */
class Watched implements Follower {
  readonly viewers = new Set<UsageViewer>();
  readonly boxes = new Map<string, Box>();
  following: Promise<() => void> | null = null;
  unfollow: (() => void) | null = null;
  isStale = true;
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  changed({ id, state, resources }: Sandbox): void {
    const box = this.boxes.get(id);
    if (state !== 'started') this.boxes.delete(id);
    else if (box) box.resources = resources;
    else if (this.boxes.size < this.#most) this.boxes.set(id, { id, resources, last: null });
  }

  gone(id: string): void {
    this.boxes.delete(id);
  }

  refresh(): void {
    this.isStale = true;
  }

  relist(sandboxes: Sandbox[]): void {
    const started = new Set(sandboxes.map(({ id }) => id));
    for (const id of this.boxes.keys()) if (!started.has(id)) this.boxes.delete(id);
    for (const sandbox of sandboxes) this.changed(sandbox);
  }
}

const FOLDER = '/sys/fs/cgroup';

/**
 * Usage of a sandbox as its own kernel files say, read by the agent inside, where no host is within reach. Root in
 * the sandbox can put other files in their place, and then sees its own figures wrong.
 */
export function usageInside(agent: Pick<AgentLink, 'readStream'>) {
  return async (id: string): Promise<SandboxUsage> => {
    const signal = AbortSignal.timeout(limits.usage.insideMs);
    const read = async (file: string): Promise<string> => {
      const part = { path: `${FOLDER}/${file}`, start: 0, end: limits.usage.insideBytes - 1 };
      return text((await agent.readStream(id, part, signal)).stream);
    };
    const [processor, memory, parts] = await Promise.all(
      ['cpu.stat', 'memory.current', 'memory.stat'].map((file) => read(file).catch(() => '')),
    );
    const microseconds = numberIn(processor, /^usage_usec (\d+)$/m);
    const bytes = numberIn(memory, /^(\d+)$/m);
    const cached = numberIn(parts, /^inactive_file (\d+)$/m) ?? 0;
    return {
      cpuMs: microseconds === null ? null : microseconds / 1_000,
      memoryBytes: bytes === null ? null : Math.max(0, bytes - cached),
      diskBytes: null,
    };
  };
}

function numberIn(file: string | undefined, pattern: RegExp): number | null {
  const digits = pattern.exec(file ?? '')?.[1];
  const number = Number(digits);
  return digits === undefined || !Number.isSafeInteger(number) ? null : number;
}
