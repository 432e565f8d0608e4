/**
 * Collects the first few different values of a field with their counts. Values are compared as raw bytes, so
 * nothing is decoded while documents go by.
 */
import { limits } from '../../model/limits.ts';

const { examples } = limits.documents.schema;

export interface KnownValue {
  typeCode: number;
  /** Possibly only the beginning of it. */
  bytes: DataView;
  /** Length of the whole value. */
  length: number;
  hash: number;
  count: number;
}

export class KnownValues {
  /** There were more values than its capacity: the entries are only examples then, and no more are taken. */
  full = false;
  readonly entries: KnownValue[] = [];
  readonly #capacity: number;
  /** Hash table of positions in `entries`, plus one, so that 0 is free. */
  #table = new Uint8Array(0);

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** @param kept Number of the value's bytes that are kept and compared, besides its length. */
  add(typeCode: number, view: DataView, at: number, length: number, kept = length): void {
    const hash = hashOf(view, at, kept) ^ typeCode;
    const table = this.#table;
    const mask = table.length - 1;
    let slot = hash & mask;
    for (let taken = table[slot] ?? 0; taken !== 0; taken = table[slot] ?? 0) {
      const entry = this.entries[taken - 1];
      if (entry !== undefined && entry.hash === hash && isSame(entry, typeCode, view, at, length)) {
        entry.count++;
        return;
      }
      slot = (slot + 1) & mask;
    }
    this.#insert({ typeCode, bytes: copyOf(view, at, kept), length, hash, count: 1 });
  }

  close(): void {
    this.full = true;
    this.entries.length = Math.min(this.entries.length, examples);
    this.#table = new Uint8Array(0);
  }

  /** Adds the other's values and counts. */
  merge(other: KnownValues): void {
    for (const entry of other.entries) {
      if (this.full) break;
      const { typeCode, bytes, length, hash, count } = entry;
      const same = this.entries.find(
        (known) => known.hash === hash && isSame(known, typeCode, bytes, 0, length),
      );
      if (same) same.count += count;
      else this.#insert({ ...entry });
    }
    if (other.full && !this.full) this.close();
  }

  #insert(entry: KnownValue): void {
    if (this.entries.length === this.#capacity) {
      this.close();
      return;
    }
    this.entries.push(entry);
    if (this.#table.length === 0) this.#table = new Uint8Array(tableSize(this.#capacity));
    const mask = this.#table.length - 1;
    let slot = entry.hash & mask;
    while (this.#table[slot] !== 0) slot = (slot + 1) & mask;
    this.#table[slot] = this.entries.length;
  }
}

/** At most half of it is used, so a search ends. */
function tableSize(capacity: number): number {
  return 2 ** Math.ceil(Math.log2(capacity * 2));
}

/** Hashes the length and twelve bytes: colliding values are compared. */
function hashOf(view: DataView, at: number, length: number): number {
  let hash = length;
  if (length >= 4) {
    hash ^= Math.imul(view.getInt32(at, true), 0x9e3779b1);
    hash ^= Math.imul(view.getInt32(at + (length >>> 1) - 2, true), 0x85ebca6b);
    hash ^= Math.imul(view.getInt32(at + length - 4, true), 0xc2b2ae35);
  } else {
    for (let i = 0; i < length; i++) hash = Math.imul(hash, 31) + view.getUint8(at + i);
  }
  return hash ^ (hash >>> 15);
}

function isSame(entry: KnownValue, typeCode: number, view: DataView, at: number, length: number): boolean {
  if (entry.length !== length || entry.typeCode !== typeCode) return false;
  const { bytes } = entry;
  const kept = bytes.byteLength;
  let i = 0;
  for (; i + 4 <= kept; i += 4) if (bytes.getInt32(i, true) !== view.getInt32(at + i, true)) return false;
  for (; i < kept; i++) if (bytes.getUint8(i) !== view.getUint8(at + i)) return false;
  return true;
}

function copyOf(view: DataView, at: number, length: number): DataView {
  const bytes = new Uint8Array(length);
  bytes.set(new Uint8Array(view.buffer, view.byteOffset + at, length));
  return new DataView(bytes.buffer);
}
