/** Finds the end of a BSON value, checked against its surroundings. Readers of a checked value stay inside it. */
import { MalformedBson } from '../bson/bytes.ts';
import { code } from './bson-types.ts';

/** An int32 and the closing NUL. */
const smallestDocument = 5;
const objectIdBytes = 12;

/** @param end Position of the enclosing document's closing NUL. */
export function endOfValue(view: DataView, typeCode: number, at: number, end: number): number {
  const after = at + lengthOf(view, typeCode, at, end);
  if (after > end) throw new MalformedBson('a value is longer than its document');
  return after;
}

/** Returns the end of the document that begins at `at`, which is `end` at the latest. */
export function endOfDocument(view: DataView, at: number, end: number): number {
  if (at + smallestDocument > end) throw new MalformedBson('it is cut short');
  const after = at + view.getInt32(at, true);
  if (after > end || after < at + smallestDocument) throw new MalformedBson('a length does not fit');
  if (view.getUint8(after - 1) !== 0) throw new MalformedBson('a document has no end');
  return after;
}

/** Returns the position of the NUL that ends the text at `at`. */
export function endOfName(view: DataView, at: number, end: number): number {
  for (let here = at; here < end; here++) if (view.getUint8(here) === 0) return here;
  throw new MalformedBson('a name has no end');
}

function lengthOf(view: DataView, typeCode: number, at: number, end: number): number {
  switch (typeCode) {
    case code.int:
      return 4;
    case code.double:
    case code.date:
    case code.long:
    case code.timestamp:
      return 8;
    case code.string:
    case code.javascript:
    case code.symbol:
      return textLength(view, at, end);
    case code.object:
    case code.array:
      return endOfDocument(view, at, end) - at;
    case code.objectId:
      return objectIdBytes;
    case code.bool:
      return boolLength(view, at);
    case code.null:
    case code.undefined:
    case code.minKey:
    case code.maxKey:
      return 0;
    default:
      return lengthOfRare(view, typeCode, at, end);
  }
}

function lengthOfRare(view: DataView, typeCode: number, at: number, end: number): number {
  switch (typeCode) {
    case code.decimal:
      return 16;
    case code.binData:
      return binaryLength(view, at, end);
    case code.regex:
      return endOfName(view, endOfName(view, at, end) + 1, end) + 1 - at;
    case code.dbPointer:
      return textLength(view, at, end) + objectIdBytes;
    case code.javascriptWithScope:
      return scopedLength(view, at, end);
    default:
      throw new MalformedBson('no type has this code');
  }
}

/** An int32, so many bytes, the last of them NUL. */
function textLength(view: DataView, at: number, end: number): number {
  if (at + 5 > end) throw new MalformedBson('a text is cut short');
  const length = view.getInt32(at, true);
  if (length < 1 || length > end - at - 4) throw new MalformedBson('the length of a text does not fit');
  if (view.getUint8(at + 3 + length) !== 0) throw new MalformedBson('a text has no end');
  return 4 + length;
}

function boolLength(view: DataView, at: number): number {
  if (view.getUint8(at) > 1) throw new MalformedBson('a bool is neither true nor false');
  return 1;
}

/** An int32, the subtype, so many bytes. */
function binaryLength(view: DataView, at: number, end: number): number {
  if (at + 5 > end) throw new MalformedBson('binary data is cut short');
  const length = view.getInt32(at, true);
  if (length < 0 || length > end - at - 5) throw new MalformedBson('the length of binary data does not fit');
  return 5 + length;
}

/** The whole length, a text, a document, and nothing else. */
function scopedLength(view: DataView, at: number, end: number): number {
  if (at + 4 > end) throw new MalformedBson('code is cut short');
  const length = view.getInt32(at, true);
  if (length < 4 + smallestDocument + smallestDocument || length > end - at) {
    throw new MalformedBson('the length of code does not fit');
  }
  const scope = at + 4 + textLength(view, at + 4, at + length);
  if (endOfDocument(view, scope, at + length) !== at + length)
    throw new MalformedBson('code and its scope do not fit');
  return length;
}
