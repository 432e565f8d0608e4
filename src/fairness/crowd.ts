/**
 * Places shared by groups without authentication: addresses, machines. When all places are taken, a group with few
 * takes one of the group with most, so that no group can lock out another.
 */
export interface CrowdOptions {
  total: number;
  perGroup: number;
  /** true: a group at its share replaces one of its own members; otherwise the newcomer is rejected. */
  replaces?: boolean;
}

/** Gives up the place for another group. Called at most once, and not after `leave`. */
type Evict = () => void;

export class Crowd {
  readonly #options: CrowdOptions;
  readonly #groups = new Map<string, Set<Evict>>();
  #size = 0;

  constructor(options: CrowdOptions) {
    this.#options = options;
  }

  /**
   * Takes a place. Returns null when the group is at its share and does not replace, or when all places are taken and
   * no group has more.
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

  /** Number of taken places. */
  get size(): number {
    return this.#size;
  }

  of(group: string): number {
    return this.#groups.get(group)?.size ?? 0;
  }

  /**
   * Evicts from the largest group, if it has at least two more than the newcomer's: a random member, so that none is
   * safe.
   */
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
