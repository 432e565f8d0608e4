/**
 * Images that are in use although no row says so yet: from the moment that one is found until the sandbox or snapshot
 * made from it is committed.
 */

export class Holds {
  readonly #held = new Map<string, number>();
  /** Time of each image's last release, on a clock of its own that only counts. */
  readonly #released = new Map<string, number>();
  #time = 0;

  /** Until the returned function is called, once. */
  hold(digest: string): () => void {
    this.#held.set(digest, (this.#held.get(digest) ?? 0) + 1);
    let over = false;
    return () => {
      if (over) return;
      over = true;
      const left = (this.#held.get(digest) ?? 1) - 1;
      if (left > 0) this.#held.set(digest, left);
      else this.#held.delete(digest);
      this.#released.set(digest, ++this.#time);
    };
  }

  /** Taken before the store is asked what is in use. */
  mark(): number {
    return this.#time;
  }

  /**
   * Returns true when nothing has held it since the mark. An image released after the mark may have been committed
   * after the store's answer, which then does not show it.
   */
  free(digest: string, mark: number): boolean {
    return !this.#held.has(digest) && (this.#released.get(digest) ?? 0) <= mark;
  }

  forget(digest: string): void {
    this.#released.delete(digest);
  }
}
