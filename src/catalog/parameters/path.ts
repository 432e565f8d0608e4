/** Paths and globs inside a sandbox. Only the agent resolves them. */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { atMostBytes, textWithoutNul } from './scalars.ts';

export const SANDBOX_ROOT = '.';

export function path() {
  return textWithoutNul().min(1).check(atMostBytes(limits.pathBytes, pathBytes));
}

export function requiredPath(about: string) {
  return path().describe(`${about}, absolute or from /workspace.`);
}

export function rootedPath(about: string) {
  return path().default(SANDBOX_ROOT).describe(`${about} (default: /workspace).`);
}

export function glob(): z.ZodString {
  return textWithoutNul().min(1).max(limits.globChars);
}

/** Accepts Unix permissions as text: a number would hide whether it is octal. */
export function fileMode() {
  return z.string().regex(/^[0-7]{3,4}$/, "must be 3 or 4 octal digits, such as '755'");
}

/** Counts bytes: a character for a byte that is not UTF-8 (U+F700 + byte) is one byte in the sandbox. */
function pathBytes(value: string): number {
  let bytes = Buffer.byteLength(value);
  // Every character is at least a byte, so a text this long exceeds the bound without a count.
  if (value.length > limits.pathBytes) return bytes;
  for (const char of value) {
    const code = char.charCodeAt(0);
    if (code >= 0xf780 && code <= 0xf7ff) bytes -= 2;
  }
  return bytes;
}
