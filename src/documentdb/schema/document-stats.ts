/** Counts the documents at one path: the collection's own, those in a field, or those in its arrays. */

import { anyKey } from '../../model/document-schema.ts';
import { limits } from '../../model/limits.ts';
import { dataNames, kindOfName, type NameKind } from './data-names.ts';
import { FieldStats as FieldCounts } from './field-stats.ts';

const { nameBytes: longestName, namesWithOneHash, countedNames, examples } = limits.documents.schema;

/** Number of fields at the first check for names that are data; each further check comes at twice as many. */
const firstLook = 16;

/** A field with the counts of its own documents. */
export type FieldStats = FieldCounts<DocumentStats>;

export class DocumentStats {
  count = 0;
  nonEmpty = 0;
  /** In order of first appearance. */
  fields: FieldStats[] = [];
  /** Merges all fields whose names are data. */
  data: FieldStats | null = null;
  /** Examples of the names that are data. */
  readonly nameExamples: string[] = [];
  /** Precedes the first field. */
  readonly head = new FieldCounts<DocumentStats>(new DataView(new ArrayBuffer(0)));
  readonly #byHash = new Map<number, FieldStats>();
  readonly #budget: FieldBudget;
  readonly #isRoot: boolean;
  /** Hashes of the names that are data. */
  readonly #dataNames = new Set<number>();
  readonly #dataKinds = new Set<NameKind | 'all'>();
  #nextLook = firstLook;

  constructor(budget: FieldBudget, isRoot: boolean) {
    this.#budget = budget;
    this.#isRoot = isRoot;
  }

  /** Number of different names that are data, as far as counted. */
  get dataNames(): number {
    return this.#dataNames.size;
  }

  /** Returns the field of this name, created if needed; null when that would be too many. */
  find(view: DataView, at: number, nameBytes: number): FieldStats | null {
    const hash = hashOfName(view, at, nameBytes);
    const known = this.#known(view, at, hash);
    if (known !== null) return known;
    const isData = this.data !== null && this.#isData(view, at, nameBytes);
    if (!isData) return this.#make(view, at, nameBytes, hash);
    this.#countName(hash);
    return this.data;
  }

  /** Merges the fields whose names are recognizably data by now. */
  lookForData(): void {
    const found = dataNames(this.fields, this.count, this.#isRoot);
    if (found === null) return;
    const before = this.size();
    this.data ??= new FieldCounts<DocumentStats>(encoded(anyKey));
    for (const field of found.fields) this.#mergeIntoData(this.data, field);
    this.data.present = Math.min(this.data.present, this.nonEmpty);
    for (const kind of found.kinds === 'all' ? ['all' as const] : found.kinds) this.#dataKinds.add(kind);
    const gone = new Set(found.fields);
    this.#keep(this.fields.filter((field) => !gone.has(field)));
    this.#budget.release(before - this.size());
  }

  /** Takes over the other's fields, so the other is of no use afterwards. */
  merge(other: DocumentStats): void {
    this.count += other.count;
    this.nonEmpty += other.nonEmpty;
    for (const hash of other.#dataNames) this.#countName(hash);
    if (this.data && other.data) this.data.merge(other.data);
    else this.data ??= other.data;
    for (const kind of other.#dataKinds) this.#dataKinds.add(kind);
    for (const field of other.fields) this.#mergeField(field);
  }

  /** Number of fields in it, at any depth. */
  size(): number {
    const all = this.data === null ? this.fields : [...this.fields, this.data];
    return all.reduce((sum, { documents }) => sum + 1 + (documents?.size() ?? 0), 0);
  }

  #known(view: DataView, at: number, hash: number): FieldStats | null {
    for (let field = this.#byHash.get(hash) ?? null; field !== null; field = field.sameHash) {
      if (isNamed(field, view, at)) return field;
    }
    return null;
  }

  #make(view: DataView, at: number, nameBytes: number, hash: number): FieldStats | null {
    const isOdd = nameBytes > longestName || this.#sharing(hash) >= namesWithOneHash;
    if (isOdd || !this.#budget.take()) {
      this.#budget.exceeded = true;
      return null;
    }
    const field = new FieldCounts<DocumentStats>(copyOf(view, at, nameBytes + 1));
    this.#insert(field, hash);
    if (this.fields.length < this.#nextLook) return field;
    this.#nextLook *= 2;
    this.lookForData();
    return this.fields.includes(field) ? field : this.data;
  }

  #insert(field: FieldStats, hash: number): void {
    this.fields.push(field);
    field.sameHash = this.#byHash.get(hash) ?? null;
    this.#byHash.set(hash, field);
  }

  #mergeField(field: FieldStats): void {
    const { name, nameBytes } = field;
    const hash = hashOf(field);
    const known = this.#known(name, 0, hash);
    if (known !== null) known.merge(field);
    else if (this.data !== null && this.#isData(name, 0, nameBytes - 1))
      this.#mergeIntoData(this.data, field);
    else this.#insert(field, hash);
    field.next = null;
  }

  #mergeIntoData(data: FieldStats, field: FieldStats): void {
    data.merge(field);
    this.#countName(hashOf(field));
    if (this.nameExamples.length < examples) this.nameExamples.push(nameOf(field));
  }

  /** Guesses would lead to removed fields, so all are cleared. */
  #keep(fields: FieldStats[]): void {
    this.fields = [];
    this.#byHash.clear();
    this.head.next = null;
    for (const field of fields) {
      field.next = null;
      this.#insert(field, hashOf(field));
    }
  }

  #sharing(hash: number): number {
    let count = 0;
    for (let field = this.#byHash.get(hash) ?? null; field !== null; field = field.sameHash) count++;
    return count;
  }

  #isData(view: DataView, at: number, nameBytes: number): boolean {
    if (this.#dataKinds.has('all')) return true;
    const kind = kindOfName(view, at, nameBytes);
    return kind !== null && this.#dataKinds.has(kind);
  }

  #countName(hash: number): void {
    if (this.#dataNames.size < countedNames) this.#dataNames.add(hash);
  }
}

/** Returns true when the bytes at `at` are the field's name; they end within the view, as a NUL ends the document. */
export function isNamed(field: FieldStats, view: DataView, at: number): boolean {
  const { name, nameBytes } = field;
  if (at + nameBytes > view.byteLength) return false;
  let i = 0;
  for (; i + 4 <= nameBytes; i += 4) if (view.getInt32(at + i, true) !== name.getInt32(i, true)) return false;
  for (; i < nameBytes; i++) if (view.getUint8(at + i) !== name.getUint8(i)) return false;
  return true;
}

export function nameOf({ name, nameBytes }: FieldStats): string {
  return Buffer.from(name.buffer, name.byteOffset, nameBytes - 1).toString('utf8');
}

function hashOf({ name, nameBytes }: FieldStats): number {
  return hashOfName(name, 0, nameBytes - 1);
}

/** FNV-1a. */
function hashOfName(view: DataView, at: number, bytes: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < bytes; i++) hash = Math.imul(hash ^ view.getUint8(at + i), 0x01000193);
  return hash;
}

function encoded(name: string): DataView {
  return new DataView(new TextEncoder().encode(`${name}\0`).buffer);
}

function copyOf(view: DataView, at: number, bytes: number): DataView {
  return new DataView(new Uint8Array(view.buffer, view.byteOffset + at, bytes).slice().buffer);
}

/** Bounds the number of distinct fields of a collection, so that hostile documents cannot fill the memory. */
export class FieldBudget {
  #left: number = limits.documents.schema.fields;
  /** Fields were left out. */
  exceeded = false;

  take(): boolean {
    if (this.#left === 0) return false;
    this.#left--;
    return true;
  }

  release(fields: number): void {
    this.#left += fields;
  }
}
