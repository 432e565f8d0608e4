/** Finds the fields of an object whose names are data: ids, dates and numbers, or just far too many. */
import { limits } from '../../model/limits.ts';
import { aliasAt } from './bson-types.ts';

const { manyNames, veryManyNames } = limits.documents.schema;

/** Number of different names of a kind that shows that they are data. One alone may be an oddly named field. */
const enough = { id: 2, date: 2, number: 5, numbered: 20 } as const;
export type NameKind = keyof typeof enough;
const kindsOfName = Object.keys(enough) as NameKind[];

/** With fewer documents, a field that all of them have proves nothing. */
const fewDocuments = 4;
const rareNested = 0.5;
const rareAtRoot = 0.05;
const mostlyOneType = 0.9;

const numericTypes: readonly string[] = ['int', 'long', 'double', 'decimal'];

/** The counts of a field that judge its name. */
export interface NamedCounts {
  /** Bytes of the name with their NUL. */
  readonly name: DataView;
  readonly nameBytes: number;
  /** Documents that have the field. */
  present: number;
  readonly types: Uint32Array;
}

export interface DataNames<Field> {
  fields: Field[];
  /** Kinds of names that count as data from now on. */
  kinds: readonly NameKind[] | 'all';
}

/** Returns null when no name is data. */
export function dataNames<Field extends NamedCounts>(
  fields: readonly Field[],
  documents: number,
  isRoot: boolean,
): DataNames<Field> | null {
  const byLook = thatLookLikeData(fields);
  const byNumber = thatAreTooMany(fields, documents, isRoot);
  const most = byNumber.fields.length > byLook.fields.length ? byNumber : byLook;
  return most.fields.length > 0 ? most : null;
}

/** Returns the kind of a name of so many bytes; null for a word. */
export function kindOfName(view: DataView, at: number, bytes: number): NameKind | null {
  let digits = 0;
  let hexLetters = 0;
  let letters = 0;
  let separators = 0;
  for (let i = 0; i < bytes; i++) {
    const char = view.getUint8(at + i) | 0x20;
    if (char >= 0x30 && char <= 0x39) digits++;
    else if (char >= 0x61 && char <= 0x66) hexLetters++;
    else if (char >= 0x67 && char <= 0x7a) letters++;
    else separators++;
  }
  if (digits === 0) return null;
  const isHex = letters === 0 && hexLetters > 0;
  if (isHex && ((separators === 0 && bytes >= 16) || (bytes === 36 && separators === 4))) return 'id';
  const first = view.getUint8(at);
  const beginsWithDigit = first >= 0x30 && first <= 0x39;
  if (hexLetters + letters === 0) {
    if (!beginsWithDigit) return null;
    return separators > 0 && digits >= 3 ? 'date' : 'number';
  }
  // 2024-01-01T10:00:00Z, 2024-Q1, 2024-W07
  if (beginsWithDigit && digits >= 5 && hexLetters + letters <= 2 && separators > 0) return 'date';
  return digits >= 3 && endsInDigits(view, at + bytes) ? 'numbered' : null;
}

/** `user_000123`, `ev12345`: three digits at least. */
function endsInDigits(view: DataView, end: number): boolean {
  for (let at = end - 3; at < end; at++) {
    if (view.getUint8(at) < 0x30 || view.getUint8(at) > 0x39) return false;
  }
  return true;
}

function thatLookLikeData<Field extends NamedCounts>(fields: readonly Field[]): DataNames<Field> {
  const byKind = Map.groupBy(fields, ({ name, nameBytes }) => kindOfName(name, 0, nameBytes - 1));
  const kinds = kindsOfName.filter((kind) => {
    const found = byKind.get(kind) ?? [];
    return found.length >= enough[kind] && (kind !== 'numbered' || haveOneType(found));
  });
  return { fields: kinds.flatMap((kind) => byKind.get(kind) ?? []), kinds };
}

function thatAreTooMany<Field extends NamedCounts>(
  fields: readonly Field[],
  documents: number,
  isRoot: boolean,
): DataNames<Field> {
  const rarely = isRoot ? rareAtRoot : rareNested;
  const everywhere = !isRoot && (documents < fewDocuments || fields.length >= veryManyNames);
  const candidates = fields.filter(({ present }) => everywhere || present < documents * rarely);
  const areData = candidates.length >= manyNames && haveOneType(candidates);
  return { fields: areData ? candidates : [], kinds: 'all' };
}

/** Values under names that are data are of one type, with few exceptions. */
function haveOneType(fields: readonly NamedCounts[]): boolean {
  const counts = new Map<string, number>();
  let all = 0;
  for (const { types } of fields) {
    for (const [place, count] of types.entries()) {
      if (count === 0 || aliasAt(place) === 'null') continue;
      const alias = aliasAt(place);
      const type = numericTypes.includes(alias) ? 'number' : alias;
      counts.set(type, (counts.get(type) ?? 0) + count);
      all += count;
    }
  }
  return Math.max(0, ...counts.values()) >= all * mostlyOneType;
}
