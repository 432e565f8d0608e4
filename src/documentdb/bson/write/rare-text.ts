/** Writes values of rare types from raw BSON to Extended JSON. The caller has run `checkLeast` for each. */
import { bsonType, int32, MalformedBson, terminator } from '../bytes.ts';
import { ascii, type TextBuffer, writeObjectId, writeString } from './text-buffer.ts';

const CLOSE = 0x7d;

const text = ascii({
  undefined: '{"$undefined":true}',
  minKey: '{"$minKey":1}',
  maxKey: '{"$maxKey":1}',
  binary: '{"$binary":{"base64":"',
  subtype: '","subType":"',
  closeBinary: '"}}',
  pattern: '{"$regularExpression":{"pattern":',
  options: ',"options":',
  pointer: '{"$dbPointer":{"$ref":',
  pointerId: ',"$id":',
  code: '{"$code":',
  symbol: '{"$symbol":',
  timestamp: '{"$timestamp":{"t":',
  increment: ',"i":',
  closeTwo: '}}',
});

/** Same contract as `writeScalar`. */
export function writeRare(to: TextBuffer, type: number, source: Buffer, at: number, limit: number): number {
  switch (type) {
    case bsonType.binary:
      return writeBinary(to, source, at, limit);
    case bsonType.undefined:
      to.literal(text.undefined);
      return at;
    case bsonType.regularExpression:
      return writeRegularExpression(to, source, at, limit);
    case bsonType.pointer:
      return writePointer(to, source, at, limit);
    case bsonType.code:
      return writeWrappedString(to, text.code, source, at, limit);
    case bsonType.symbol:
      return writeWrappedString(to, text.symbol, source, at, limit);
    case bsonType.timestamp:
      writeTimestamp(to, source, at);
      return at + 8;
    case bsonType.maxKey:
      to.literal(text.maxKey);
      return at;
    default:
      to.literal(text.minKey);
      return at;
  }
}

function writeBinary(to: TextBuffer, source: Buffer, at: number, limit: number): number {
  const size = int32(source, at);
  const end = at + 5 + size;
  if (size < 0 || end > limit) throw new MalformedBson('a wrong length of binary data', at);
  let from = at + 5;
  // The oldest subtype stores its length twice.
  if (source[at + 4] === 2) {
    if (size < 4 || int32(source, from) !== size - 4) {
      throw new MalformedBson('two lengths of binary data that differ', from);
    }
    from += 4;
  }
  to.literal(text.binary);
  to.base64(source, from, end);
  to.literal(text.subtype);
  to.hex(source, at + 4, at + 5);
  to.literal(text.closeBinary);
  return end;
}

function writeRegularExpression(to: TextBuffer, source: Buffer, at: number, limit: number): number {
  const pattern = terminator(source, at, limit);
  const options = terminator(source, pattern + 1, limit);
  to.literal(text.pattern);
  to.quoted(source, at, pattern);
  to.literal(text.options);
  to.quoted(source, pattern + 1, options);
  to.literal(text.closeTwo);
  return options + 1;
}

function writePointer(to: TextBuffer, source: Buffer, at: number, limit: number): number {
  to.literal(text.pointer);
  const id = writeString(to, source, at, limit - 12);
  to.literal(text.pointerId);
  writeObjectId(to, source, id);
  to.literal(text.closeTwo);
  return id + 12;
}

function writeTimestamp(to: TextBuffer, source: Buffer, at: number): void {
  to.literal(text.timestamp);
  to.asciiText(String(int32(source, at + 4) >>> 0));
  to.literal(text.increment);
  to.asciiText(String(int32(source, at) >>> 0));
  to.literal(text.closeTwo);
}

function writeWrappedString(
  to: TextBuffer,
  opening: Uint8Array,
  source: Buffer,
  at: number,
  limit: number,
): number {
  to.literal(opening);
  const end = writeString(to, source, at, limit);
  to.byte(CLOSE);
  return end;
}
