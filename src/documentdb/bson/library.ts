/**
 * The library of BSON, as the copy that the driver loads: an import would load a second one beside it, its ES module, and
 * values of one are no instances of the classes of the other.
 */
import { createRequire } from 'node:module';
import type * as Bson from 'bson';

export const {
  Binary,
  BSONRegExp,
  BSONSymbol,
  BSONValue,
  Code,
  DBRef,
  Decimal128,
  Double,
  deserialize,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  serialize,
  Timestamp,
} = createRequire(import.meta.url)('bson') as typeof Bson;

export type Binary = Bson.Binary;
export type BSONValue = Bson.BSONValue;
export type Code = Bson.Code;
export type Decimal128 = Bson.Decimal128;
export type Double = Bson.Double;
export type Long = Bson.Long;
