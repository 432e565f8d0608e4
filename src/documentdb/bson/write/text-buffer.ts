/** Builds JSON text as UTF-8 in one growing buffer: BSON's strings are UTF-8 too, so most are only copied. Texts that several types share are here too. */
import { isUtf8 } from 'node:buffer';
import { stringEnd, terminator } from '../bytes.ts';
import { writeAscii } from './number-text.ts';

const INITIAL_BYTES = 4096;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_BEYOND_ASCII = 0x80;
/** Up to this length a loop copies faster than a native call. */
const SHORT_BYTES = 96;
/** Length of the longest escape, `\u001f`. */
const ESCAPE_BYTES = 6;

/** 1: unescaped between quotes. 0: control characters, JSON's escapes, and all beyond ASCII. */
const isPlain = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte < FIRST_BEYOND_ASCII && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
);
const escapes = Array.from({ length: FIRST_BEYOND_ASCII }, (_, byte) =>
  JSON.stringify(String.fromCharCode(byte)).slice(1, -1),
);
const hexDigits = Buffer.from('0123456789abcdef', 'latin1');

export class TextBuffer {
  /** Valid up to `length`. Any call may replace it. */
  bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  length = 0;
  /** Reserves room for so many more bytes. */
  reserve(bytes: number): void {
    const needed = this.length + bytes;
    if (needed <= this.bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.bytes.length * 2));
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
  }

  byte(byte: number): void {
    this.reserve(1);
    this.bytes[this.length++] = byte;
  }

  literal(ascii: Uint8Array): void {
    const size = ascii.length;
    this.reserve(size);
    const { bytes, length } = this;
    for (let i = 0; i < size; i++) bytes[length + i] = ascii[i] as number;
    this.length = length + size;
  }

  asciiText(text: string): void {
    this.reserve(text.length);
    this.length = writeAscii(this.bytes, this.length, text);
  }

  hex(source: Uint8Array, from: number, to: number): void {
    this.reserve(2 * (to - from));
    const { bytes } = this;
    let at = this.length;
    for (let i = from; i < to; i++) {
      const byte = source[i] as number;
      bytes[at++] = hexDigits[byte >> 4] as number;
      bytes[at++] = hexDigits[byte & 15] as number;
    }
    this.length = at;
  }

  base64(source: Buffer, from: number, to: number): void {
    const text = source.toString('base64', from, to);
    this.reserve(text.length);
    this.length += this.bytes.write(text, this.length, 'latin1');
  }

  /** Writes UTF-8 in quotes; invalid UTF-8 becomes U+FFFD. */
  quoted(source: Buffer, from: number, to: number): void {
    this.reserve(to - from + 2);
    this.bytes[this.length++] = QUOTE;
    this.escaped(source, from, to, false);
    this.byte(QUOTE);
  }

  /**
   * Writes a key in quotes and its colon.
   * @returns the position of the key's terminator.
   */
  key(source: Buffer, from: number, limit: number): number {
    this.reserve(SHORT_BYTES + 3);
    const { bytes } = this;
    const stop = Math.min(limit, from + SHORT_BYTES);
    let at = this.length;
    bytes[at++] = QUOTE;
    let i = from;
    for (; i < stop; i++) {
      const byte = source[i] as number;
      if (isPlain[byte] === 0) break;
      bytes[at++] = byte;
    }
    this.length = at;
    if (i >= limit || source[i] !== 0) {
      const end = terminator(source, i, limit);
      this.escaped(source, i, end, false);
      i = end;
    }
    this.reserve(2);
    this.bytes[this.length++] = QUOTE;
    this.bytes[this.length++] = 0x3a;
    return i;
  }

  private escaped(source: Buffer, from: number, to: number, valid: boolean): void {
    let i = from;
    while (i < to) {
      i = this.plain(source, i, to, valid);
      if (i === to) return;
      const byte = source[i] as number;
      if (byte < FIRST_BEYOND_ASCII) {
        this.reserve(ESCAPE_BYTES + to - i);
        this.length = writeAscii(this.bytes, this.length, escapes[byte] as string);
        i++;
        continue;
      }
      if (!isUtf8(source.subarray(i, to))) {
        const repaired = Buffer.from(source.toString('utf8', i, to));
        this.escaped(repaired, 0, repaired.length, true);
        return;
      }
      valid = true;
    }
  }

  /** Copies bytes without escapes, and returns their end. */
  private plain(source: Buffer, from: number, to: number, valid: boolean): number {
    this.reserve(to - from);
    const { bytes } = this;
    let at = this.length;
    let i = from;
    if (to - from <= SHORT_BYTES) {
      for (; i < to; i++) {
        const byte = source[i] as number;
        if (isPlain[byte] === 0 && !(valid && byte >= FIRST_BEYOND_ASCII)) break;
        bytes[at++] = byte;
      }
      this.length = at;
      return i;
    }
    for (; i < to; i++) {
      const byte = source[i] as number;
      if (isPlain[byte] === 0 && !(valid && byte >= FIRST_BEYOND_ASCII)) break;
    }
    source.copy(bytes, at, from, i);
    this.length = at + i - from;
    return i;
  }
}

const OBJECT_ID = Buffer.from('{"$oid":"', 'latin1');
const CLOSE = Buffer.from('"}', 'latin1');

/** Encodes constant texts, ready to be copied. */
export function ascii<K extends string>(texts: Record<K, string>): Record<K, Uint8Array> {
  const bytes = Object.entries<string>(texts).map(([name, value]) => [name, Buffer.from(value, 'latin1')]);
  return Object.fromEntries(bytes);
}

export function writeString(to: TextBuffer, source: Buffer, at: number, limit: number): number {
  const end = stringEnd(source, at, limit);
  to.quoted(source, at + 4, end - 1);
  return end;
}

export function writeObjectId(to: TextBuffer, source: Buffer, at: number): void {
  to.literal(OBJECT_ID);
  to.hex(source, at, at + 12);
  to.literal(CLOSE);
}

/** Writes a wrapper whose value is text. */
export function writeQuoted(to: TextBuffer, opening: Uint8Array, value: string): void {
  to.literal(opening);
  to.asciiText(value);
  to.literal(CLOSE);
}
