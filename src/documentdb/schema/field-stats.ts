/** Counts one field: the fields of one name in all the documents at one path. */
import { places } from './bson-types.ts';
import { Values } from './values.ts';

/** Counts of documents that can take over others of the same path. */
interface Mergeable<Documents> {
  merge(other: Documents): void;
}

/** `Documents` holds the counts of the documents inside the field: fields and documents contain each other. */
export class FieldStats<Documents extends Mergeable<Documents>> {
  /** With its NUL, as in documents. */
  readonly name: DataView;
  readonly nameBytes: number;
  /** Successor of this field in an earlier document: the guess that saves looking names up. */
  next: FieldStats<Documents> | null = null;
  /** Another field whose name has the same hash. */
  sameHash: FieldStats<Documents> | null = null;
  /** Number of the last document with it. */
  lastIn = 0;
  /** Number of documents with it. */
  present = 0;
  readonly types = new Uint32Array(places);
  readonly values = new Values();
  /** Smallest, largest and total length of the arrays directly in it. */
  readonly lengths = Float64Array.of(Number.POSITIVE_INFINITY, 0, 0);
  elements: ElementStats | null = null;
  /** Documents in it and in its arrays. */
  documents: Documents | null = null;

  constructor(name: DataView) {
    this.name = name;
    this.nameBytes = name.byteLength;
  }

  addLength(length: number): void {
    const [min = 0, max = 0, total = 0] = this.lengths;
    if (length < min) this.lengths[0] = length;
    if (length > max) this.lengths[1] = length;
    this.lengths[2] = total + length;
  }

  /** Takes over the other's documents, so the other is of no use afterwards. */
  merge(other: FieldStats<Documents>): void {
    this.present += other.present;
    this.lastIn = Math.max(this.lastIn, other.lastIn);
    addCounts(this.types, other.types);
    this.values.merge(other.values);
    this.#mergeLengths(other.lengths);
    if (this.elements && other.elements) this.elements.merge(other.elements);
    else this.elements ??= other.elements;
    if (this.documents && other.documents) this.documents.merge(other.documents);
    else this.documents ??= other.documents;
  }

  #mergeLengths([min = 0, max = 0, total = 0]: Float64Array): void {
    const [ownMin = 0, ownMax = 0, ownTotal = 0] = this.lengths;
    this.lengths.set([Math.min(min, ownMin), Math.max(max, ownMax), total + ownTotal]);
  }
}

/** Counts the types of array elements, and of arrays in those. */
export class ElementStats {
  readonly types = new Uint32Array(places);
  elements: ElementStats | null = null;

  merge(other: ElementStats): void {
    addCounts(this.types, other.types);
    if (this.elements && other.elements) this.elements.merge(other.elements);
    else this.elements ??= other.elements;
  }
}

export function countAt(types: Uint32Array, place: number): void {
  types[place] = (types[place] ?? 0) + 1;
}

function addCounts(types: Uint32Array, others: Uint32Array): void {
  for (const [place, count] of others.entries()) types[place] = (types[place] ?? 0) + count;
}
