/** Shared text parts of several types. */
import { stringEnd } from '../bytes.ts';
import type { TextBuffer } from './text-buffer.ts';

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
