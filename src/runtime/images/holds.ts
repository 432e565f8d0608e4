/**
 * Holds of images in use that no row shows yet: from the moment an image is found until the sandbox or snapshot made
 * from it is committed.
 */

export class Holds {
  readonly #held = new Map<string, number>();
  /** Logical time of each image's last release: a counter. */
  readonly #released = new Map<string, number>();
  #time = 0;

  /** Holds the image until the returned function is called; only its first call counts. */
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

  /** Taken before the store's images in use are read. */
  mark(): number {
    return this.#time;
  }

  /**
   * Returns true when nothing has held the image at the mark or since. An image released after the mark may have been
   * committed after the store was read, so the store's answer does not cover it.
   */
  free(digest: string, mark: number): boolean {
    return !this.#held.has(digest) && (this.#released.get(digest) ?? 0) <= mark;
  }

  forget(digest: string): void {
    this.#released.delete(digest);
  }
}
