/** Lists the operators of filters by place, with their operands. */

export type Operand =
  /** Never walked. */
  | 'literal'
  /** A list of literals; a regular expression may be among them. */
  | 'literals'
  | 'filters'
  | 'expression'
  | 'schema'
  /** `$all`: values, or a list of `{"$elemMatch": …}`. */
  | 'all'
  | 'element'
  /** Operators of the same field, or a regular expression. */
  | 'not'
  | 'pattern'
  /** `$near`: only where the result may be sorted by distance. */
  | 'near'
  /** `$text`: only where the collection's index can answer. */
  | 'text'
  | 'shape';

export type QueryOperators = ReadonlyMap<string, Operand>;

/** In the place of a field's name, also in documents inside lists. */
export const elementOperators: QueryOperators = new Map<string, Operand>([
  ['$and', 'filters'],
  ['$or', 'filters'],
  ['$nor', 'filters'],
  ['$comment', 'literal'],
]);

/** In the place of a field's name, of the whole document only. */
export const documentOperators: QueryOperators = new Map<string, Operand>([
  ...elementOperators,
  ['$expr', 'expression'],
  ['$jsonSchema', 'schema'],
  ['$text', 'text'],
  ['$sampleRate', 'literal'],
  ['$alwaysTrue', 'literal'],
  ['$alwaysFalse', 'literal'],
]);

/** In a field's operand. */
export const fieldOperators: QueryOperators = new Map<string, Operand>([
  ['$eq', 'literal'],
  ['$ne', 'literal'],
  ['$gt', 'literal'],
  ['$gte', 'literal'],
  ['$lt', 'literal'],
  ['$lte', 'literal'],
  ['$in', 'literals'],
  ['$nin', 'literals'],
  ['$all', 'all'],
  ['$elemMatch', 'element'],
  ['$not', 'not'],
  ['$exists', 'literal'],
  ['$type', 'literal'],
  ['$size', 'literal'],
  ['$mod', 'literal'],
  ['$regex', 'pattern'],
  ['$options', 'literal'],
  ['$comment', 'literal'],
  ['$bitsAllClear', 'literal'],
  ['$bitsAllSet', 'literal'],
  ['$bitsAnyClear', 'literal'],
  ['$bitsAnySet', 'literal'],
  ['$geoWithin', 'shape'],
  ['$geoIntersects', 'shape'],
  ['$near', 'near'],
  ['$nearSphere', 'near'],
  ['$maxDistance', 'near'],
  ['$minDistance', 'near'],
]);

/** Keys that define a shape; everything below each is a literal. */
export const shapeKeys: readonly string[] = ['$geometry', '$box', '$polygon', '$center', '$centerSphere'];
export const nearKeys: readonly string[] = ['$geometry', '$maxDistance', '$minDistance'];
export const textKeys: readonly string[] = ['$search', '$language', '$caseSensitive', '$diacriticSensitive'];

export type SchemaSlot = 'literal' | 'schema' | 'schemas' | 'schemaByName' | 'schemaOrFlag' | 'dependencies';

/** Keywords of `$jsonSchema`. */
export const schemaKeywords: ReadonlyMap<string, SchemaSlot> = new Map<string, SchemaSlot>([
  ...['bsonType', 'type', 'title', 'description', 'enum', 'required', 'pattern', 'multipleOf'].map(literal),
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength', 'maxLength'].map(literal),
  ...['minItems', 'maxItems', 'uniqueItems', 'minProperties', 'maxProperties'].map(literal),
  ['properties', 'schemaByName'],
  ['patternProperties', 'schemaByName'],
  ['dependencies', 'dependencies'],
  ['additionalProperties', 'schemaOrFlag'],
  ['additionalItems', 'schemaOrFlag'],
  ['items', 'schemas'],
  ['allOf', 'schemas'],
  ['anyOf', 'schemas'],
  ['oneOf', 'schemas'],
  ['not', 'schema'],
]);

function literal(name: string): [string, SchemaSlot] {
  return [name, 'literal'];
}
