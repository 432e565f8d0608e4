/** Lists BSON's types: their codes in the bytes, their places in tables of counts, and their names for `$type`. */

const aliases = {
  double: 0x01,
  string: 0x02,
  object: 0x03,
  array: 0x04,
  binData: 0x05,
  undefined: 0x06,
  objectId: 0x07,
  bool: 0x08,
  date: 0x09,
  null: 0x0a,
  regex: 0x0b,
  dbPointer: 0x0c,
  javascript: 0x0d,
  symbol: 0x0e,
  javascriptWithScope: 0x0f,
  int: 0x10,
  timestamp: 0x11,
  long: 0x12,
  decimal: 0x13,
  maxKey: 0x7f,
  minKey: 0xff,
} as const;

export type TypeAlias = keyof typeof aliases;

export const code: Record<TypeAlias, number> = aliases;

/** A type's place in a table of counts is its code, except for the two codes that are far from the others. */
export const places = 0x16;

const maxKeyPlace = 0x14;
const minKeyPlace = 0x15;

const aliasByPlace: TypeAlias[] = [];
for (const [alias, typeCode] of Object.entries(aliases)) aliasByPlace[placeOf(typeCode)] = alias as TypeAlias;

/** Returns -1 for an unknown code. */
export function placeOf(typeCode: number): number {
  if (typeCode <= aliases.decimal) return typeCode;
  if (typeCode === aliases.maxKey) return maxKeyPlace;
  return typeCode === aliases.minKey ? minKeyPlace : -1;
}

export function aliasAt(place: number): TypeAlias {
  const found = aliasByPlace[place];
  if (!found) throw new Error(`no BSON type is at place ${place}`);
  return found;
}
