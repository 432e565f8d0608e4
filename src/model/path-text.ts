/**
 * File names as text and back, without loss; the same mapping as the agent's `path_text.rs`. UTF-8 bytes map to their
 * characters; every other byte b maps to the character U+F700 + b. A name that really holds one of the characters
 * U+F780 to U+F7FF has its three bytes mapped one by one, so no two names share one text.
 */
import { isUtf8 } from 'node:buffer';

const BASE = 0xf700;
const standIn = /[\uf780-\uf7ff]/;

export function pathToText(bytes: Buffer): string {
  if (isUtf8(bytes)) {
    const text = bytes.toString('utf8');
    if (!standIn.test(text)) return text;
  }
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const length = characterLength(bytes, at);
    const character = length === 0 ? '' : bytes.toString('utf8', at, at + length);
    if (length === 0 || standIn.test(character)) {
      for (const byte of bytes.subarray(at, at + Math.max(1, length)))
        text += String.fromCharCode(BASE + byte);
    } else {
      text += character;
    }
    at += Math.max(1, length);
  }
  return text;
}

export function pathToBytes(text: string): Buffer {
  if (!standIn.test(text)) return Buffer.from(text);
  return Buffer.concat(
    [...text].map((character) =>
      standIn.test(character) ? Buffer.of(character.charCodeAt(0) - BASE) : Buffer.from(character),
    ),
  );
}

/** Returns true for a name that no program argument, which is UTF-8, can hold. */
export function holdsRawBytes(text: string): boolean {
  return standIn.test(text);
}

/** Returns the length of the UTF-8 character that begins there; 0 when none does. */
function characterLength(bytes: Buffer, at: number): number {
  const length = announcedLength(bytes[at] ?? 0);
  if (length === 0 || at + length > bytes.length) return 0;
  return isUtf8(bytes.subarray(at, at + length)) ? length : 0;
}

function announcedLength(first: number): number {
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  if (first < 0xe0) return 2;
  if (first < 0xf0) return 3;
  return first < 0xf5 ? 4 : 0;
}
