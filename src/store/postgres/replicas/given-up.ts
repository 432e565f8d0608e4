/**
 * Replicas that were given up, the latest ones: the database is asked only once about each. Nobody comes back under an
 * old id, so what is in here stays true; one that was forgotten is asked for again.
 */
import { limits } from '../../../model/limits.ts';

export class GivenUp {
  /** In the order in which they were last asked for. */
  readonly #ids = new Set<string>();

  get size(): number {
    return this.#ids.size;
  }

  /** Remembers a replica, in place of the one asked for longest ago when there are `limits.replicas.givenUpKept`. */
  add(id: string): void {
    this.#ids.delete(id);
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (oldest !== undefined && this.#ids.size > limits.replicas.givenUpKept) this.#ids.delete(oldest);
  }

  has(id: string): boolean {
    if (!this.#ids.has(id)) return false;
    this.add(id);
    return true;
  }
}
