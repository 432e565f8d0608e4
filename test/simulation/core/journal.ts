/**
 * Rows in memory as a write-ahead log keeps them: a write is visible at once and survives a power cut once it is
 * settled, with all writes before it.
 */

export class Journal {
  /** Undoes each write that is not settled, oldest first. */
  #undo: (() => void)[] = [];
  #settled = 0;

  /** Number of all writes. */
  get written(): number {
    return this.#settled + this.#undo.length;
  }

  /** Puts the first `written` writes on the disk. */
  settle(written: number): void {
    const more = Math.max(0, written - this.#settled);
    this.#undo.splice(0, more);
    this.#settled += more;
  }

  get unsettled(): number {
    return this.#undo.length;
  }

  /** Loses all writes but the settled ones and so many after them. */
  cut(kept: number): void {
    for (const undo of this.#undo.splice(kept).reverse()) undo();
    this.settle(this.written);
  }

  note(undo: () => void): void {
    this.#undo.push(undo);
  }
}

/** A map whose changes the journal can undo. Values are replaced, never changed. */
export class JournaledMap<K, V> extends Map<K, V> {
  readonly #journal: Journal;

  constructor(journal: Journal) {
    super();
    this.#journal = journal;
  }

  override set(key: K, value: V): this {
    this.#note(key);
    return super.set(key, value);
  }

  override delete(key: K): boolean {
    this.#note(key);
    return super.delete(key);
  }

  #note(key: K): void {
    const before = this.get(key);
    const was = this.has(key);
    this.#journal.note(() => (was ? super.set(key, before as V) : super.delete(key)));
  }
}
