/**
 * Places that groups share, none of which is asked who it is: addresses, machines. When all places are taken, a
 * group with few takes one of the group with most, so that no group can lock out another.
 */
export interface CrowdOptions {
  total: number;
  perGroup: number;
  /** Whether a group that has its share replaces one of its own, instead of waiting. */
  replaces?: boolean;
}

/** Gives up its place, because another group needs it. Called at most once, and not after `leave`. */
type Evict = () => void;

export class Crowd {
  readonly #options: CrowdOptions;
  readonly #groups = new Map<string, Set<Evict>>();
  #size = 0;

  constructor(options: CrowdOptions) {
    this.#options = options;
  }

  /**
   * Takes a place. Null when the group has its share already and does not replace, or when all is taken and no group
   * has more.
   * @returns Leaves the place; further calls of it do nothing.
   */
  enter(group: string, evict: Evict): (() => void) | null {
    const { total, perGroup, replaces = false } = this.#options;
    const own = this.#groups.get(group)?.size ?? 0;
    if (own >= Math.min(perGroup, total)) {
      if (!replaces) return null;
      this.#evictOne(group);
    } else if (this.#size >= total && !this.#makeRoom(own)) return null;
    // Two members of a group may evict by one function.
    const member = () => evict();
    const members = this.#groups.get(group) ?? new Set();
    this.#groups.set(group, members.add(member));
    this.#size += 1;
    return () => void this.#remove(group, member);
  }

  /** Places that are taken. */
  get size(): number {
    return this.#size;
  }

  of(group: string): number {
    return this.#groups.get(group)?.size ?? 0;
  }

  /** From the largest group, if that has at least two more than the newcomer's: by chance, so that none is safe. */
  #makeRoom(own: number): boolean {
    const [largest] = [...this.#groups].toSorted(([, a], [, b]) => b.size - a.size);
    if (!largest || largest[1].size < own + 2) return false;
    this.#evictOne(largest[0]);
    return true;
  }

  #evictOne(group: string): void {
    const members = [...(this.#groups.get(group) ?? [])];
    const victim = members[Math.floor(Math.random() * members.length)];
    if (!victim) return;
    this.#remove(group, victim);
    victim();
  }

  #remove(group: string, member: Evict): boolean {
    const members = this.#groups.get(group);
    if (!members?.delete(member)) return false;
    this.#size -= 1;
    if (members.size === 0) this.#groups.delete(group);
    return true;
  }
}
