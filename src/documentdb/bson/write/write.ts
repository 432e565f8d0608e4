/**
 * Writes raw BSON as MongoDB Extended JSON v2, straight from bytes to bytes, so that no value passes through a
 * type that cannot hold it. The bytes are the server's: every length is checked against the bytes present before
 * its use.
 *
 * - relaxed: for callers. Integers beyond ±2^53 are `$numberLong`, since many readers keep no more; an integral
 * double keeps its point.
 * - canonical: every type named.
 * - lossless: relaxed, but `parseEjson` reads the very same back: a long that an int could hold is named.
 */
import { limits } from '../../../model/limits.ts';
import { bsonType, checkLeast, documentEnd, int32, MalformedBson, terminator } from '../bytes.ts';
import { type EjsonMode, writeScalar } from './scalar-text.ts';
import { TextBuffer, writeString } from './text-buffer.ts';

export type { EjsonMode } from './scalar-text.ts';

const LINE_END = 0x0a;
const COMMA = 0x2c;
const BRACKETS = { open: 0x5b, close: 0x5d };
const BRACES = { open: 0x7b, close: 0x7d };
const CODE = Buffer.from('{"$code":', 'latin1');
const SCOPE = Buffer.from(',"$scope":', 'latin1');

/** Returns one document's text. */
export function toEjson(bson: Uint8Array, mode?: EjsonMode): string {
  return new EjsonWriter(mode).text(bson);
}

/** Reuses its buffer for every document. */
export class EjsonWriter {
  private readonly mode: EjsonMode;
  private readonly to = new TextBuffer();
  private source: Buffer = Buffer.alloc(0);

  constructor(mode: EjsonMode = 'relaxed') {
    this.mode = mode;
  }

  /** Length in bytes: of the last result of `text`, or of the pending lines. */
  get length(): number {
    return this.to.length;
  }

  /** Returns one document's text, without a line's end. Drops pending lines. */
  text(bson: Uint8Array): string {
    this.to.length = 0;
    this.append(bson);
    return this.to.bytes.toString('utf8', 0, this.to.length);
  }

  /** Appends a document to the pending lines. A malformed one leaves nothing behind. */
  line(bson: Uint8Array): void {
    const before = this.to.length;
    try {
      this.append(bson);
      this.to.byte(LINE_END);
    } catch (error) {
      this.to.length = before;
      throw error;
    }
  }

  /** Returns the pending lines as bytes of their own, and clears them. */
  takeLines(): Uint8Array {
    const lines = Uint8Array.prototype.slice.call(this.to.bytes, 0, this.to.length);
    this.to.length = 0;
    return lines;
  }

  private append(bson: Uint8Array): void {
    this.source = Buffer.isBuffer(bson) ? bson : Buffer.from(bson.buffer, bson.byteOffset, bson.byteLength);
    const end = this.document(0, bson.length, 1, false);
    if (end !== bson.length) throw new MalformedBson('bytes behind the document', end);
  }

  /** Writes the document or array that begins there, and returns its end. */
  private document(at: number, limit: number, depth: number, isArray: boolean): number {
    if (depth > limits.documents.resultDepth) throw new MalformedBson('too many levels', at);
    const { source, to } = this;
    const end = documentEnd(source, at, limit);
    const { open, close } = isArray ? BRACKETS : BRACES;
    to.byte(open);
    const first = at + 4;
    let next = first;
    while (next < end) {
      if (next > first) to.byte(COMMA);
      const type = source[next] as number;
      const nul = isArray ? terminator(source, next + 1, end) : to.key(source, next + 1, end);
      next = this.value(type, nul + 1, end, depth);
    }
    to.byte(close);
    return end + 1;
  }

  private value(type: number, at: number, limit: number, depth: number): number {
    checkLeast(type, at, limit);
    switch (type) {
      case bsonType.object:
        return this.document(at, limit, depth + 1, false);
      case bsonType.array:
        return this.document(at, limit, depth + 1, true);
      case bsonType.codeWithScope:
        return this.codeWithScope(at, limit, depth);
      default:
        return writeScalar(this.to, this.mode, type, this.source, at, limit);
    }
  }

  private codeWithScope(at: number, limit: number, depth: number): number {
    const end = at + int32(this.source, at);
    if (end < at || end > limit) throw new MalformedBson('a wrong length of code', at);
    this.to.literal(CODE);
    const scope = writeString(this.to, this.source, at + 4, end);
    this.to.literal(SCOPE);
    if (this.document(scope, end, depth + 1, false) !== end) {
      throw new MalformedBson('a wrong length of code', at);
    }
    this.to.byte(BRACES.close);
    return end;
  }
}
