/** Paths and globs inside a sandbox. What they resolve to is the agent's business alone. */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { atMostBytes, textWithoutNul } from './text.ts';

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

/** Unix permissions as text: a number would hide whether it is meant as octal. */
export function fileMode() {
  return z.string().regex(/^[0-7]{3,4}$/, "must be 3 or 4 octal digits, such as '755'");
}

/** A character that stands for a byte which is not UTF-8 (U+F700 + byte) is one byte in the sandbox. */
function pathBytes(value: string): number {
  let bytes = Buffer.byteLength(value);
  // No character is less than a byte, so this is too long in any case, and may be very long.
  if (value.length > limits.pathBytes) return bytes;
  for (const char of value) {
    const code = char.charCodeAt(0);
    if (code >= 0xf780 && code <= 0xf7ff) bytes -= 2;
  }
  return bytes;
}
