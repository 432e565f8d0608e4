/**
 * Rows that this process has read, so that calls on the hot path need no round trip. An entry goes when its row is
 * written: by this process before the write resolves, by another one when PostgreSQL sends the news.
 *
 * Invariant: a row that was read before a write is never stored after it.
 */
export interface RowCacheOptions<T> {
  /** Bytes kept; above it the oldest entries go. */
  mostBytes: number;
  /** An estimate. */
  bytesOf(value: T): number;
  /** The row that a value was read from. */
  rowOf(value: T): string;
}

export class RowCache<T> {
  readonly #options: RowCacheOptions<T>;
  readonly #values = new Map<string, T>();
  #bytes = 0;
  readonly #keysByRow = new Map<string, Set<string>>();
  /** Raised by every write and when the news arrive again; a read that began under another version is not stored. */
  #version = 0;
  #open = false;
  #isCurrent = () => true;

  constructor(options: RowCacheOptions<T>) {
    this.#options = options;
  }

  /** Returns the stored value, or loads it. Never stores null: a row that is made later has no news for it. */
  async get(key: string, load: () => Promise<T | null>): Promise<T | null> {
    const known = this.#values.get(key);
    if (known !== undefined && this.#isCurrent()) return known;
    const version = this.#version;
    const value = await load();
    if (value !== null && this.#open && version === this.#version) this.#store(key, value);
    return value;
  }

  /** Forgets what was read from the row. */
  forget(row: string): void {
    this.#version += 1;
    for (const key of [...(this.#keysByRow.get(row) ?? [])]) this.#drop(key);
  }

  /**
   * Stores the rows that are read from now on: the news arrive. A read under way may have missed some.
   *
   * @param isCurrent false: nobody knows how late the news are, and every row is read again.
   */
  open(isCurrent = () => true): void {
    this.#version += 1;
    this.#open = true;
    this.#isCurrent = isCurrent;
  }

  /** Forgets all, and stores nothing: no news arrive. */
  close(): void {
    this.#open = false;
    this.forgetAll();
  }

  forgetAll(): void {
    this.#version += 1;
    this.#values.clear();
    this.#keysByRow.clear();
    this.#bytes = 0;
  }

  #store(key: string, value: T): void {
    const { mostBytes, bytesOf, rowOf } = this.#options;
    this.#drop(key);
    const row = rowOf(value);
    this.#keysByRow.set(row, (this.#keysByRow.get(row) ?? new Set<string>()).add(key));
    this.#values.set(key, value);
    this.#bytes += bytesOf(value);
    for (const oldest of this.#values.keys()) {
      if (this.#bytes <= mostBytes) return;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    const value = this.#values.get(key);
    if (value === undefined) return;
    const { bytesOf, rowOf } = this.#options;
    this.#values.delete(key);
    this.#bytes -= bytesOf(value);
    const keys = this.#keysByRow.get(rowOf(value));
    keys?.delete(key);
    if (keys?.size === 0) this.#keysByRow.delete(rowOf(value));
  }
}
