/** What is open, by the id of what it is open under, so that it ends with that. */

export type End = () => void;

export class OpenEnds {
  readonly #open = new Map<string, Set<End>>();

  /** Calls `end` once `id` is over; not after the returned function was called. */
  watch(id: string, end: End): () => void {
    const all = this.#open.get(id) ?? new Set<End>();
    const own = () => end();
    this.#open.set(id, all.add(own));
    return () => {
      all.delete(own);
      if (all.size === 0 && this.#open.get(id) === all) this.#open.delete(id);
    };
  }

  /**
   * Once the store says that `id` is over. Whoever was being let in at that moment is there a turn of the event loop
   * later.
   */
  over(id: string): void {
    this.#end(id);
    setImmediate(() => this.#end(id));
  }

  #end(id: string): void {
    const all = this.#open.get(id);
    this.#open.delete(id);
    for (const end of all ?? []) end();
  }
}
