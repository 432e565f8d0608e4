/** Parameters of one value: texts, numbers, paths and maps of texts. */
import { z } from 'zod';
import { invalidArgument } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';

/**
 * Rejects half a surrogate pair, which has no UTF-8 form and would be replaced silently.
 * The messages continue a sentence that begins with the parameter's name.
 */
export function text() {
  return z
    .string()
    .refine((value) => value.isWellFormed(), 'must be valid Unicode, without half a surrogate pair');
}

/** Accepts text that becomes a C string: an argument, a name, a path. */
export function textWithoutNul() {
  return text().refine((value) => !value.includes('\0'), 'must not contain a NUL character');
}

export function atMostBytes(max: number, measure: (value: string) => number = Buffer.byteLength) {
  return z.check<string>(({ value, issues }) => {
    const bytes = measure(value);
    if (bytes <= max) return;
    issues.push({ code: 'custom', input: value, message: `must be at most ${max} bytes; it is ${bytes}` });
  });
}

/** Encoding of a parameter that has bytes. */
export function encoding() {
  return z.enum(['utf-8', 'base64']).default('utf-8');
}

/**
 * Throws `invalid_argument` for malformed base64; line breaks are fine, since many encoders wrap. Uses the platform's
 * decoder, which takes no longer for white space between any two digits.
 */
export function bytesOf(
  parameter: string,
  content: string,
  encoding: 'utf-8' | 'base64',
  hint: string,
): Buffer {
  if (encoding === 'utf-8') return Buffer.from(content);
  try {
    return Buffer.from(atob(content), 'latin1');
  } catch {
    throw invalidArgument(parameter, `${parameter} must be valid base64.`, hint);
  }
}

/** Parameter that makes a pattern plain text instead of an expression. */
export const literal = z.boolean().optional().describe('Plain text, no expression.');

/** Returns the note for an expression that finds nothing. @param where `3 times`, `in 2 files`. */
export function plainTextNote(where: string): string {
  return `Nothing matches the expression, but as plain text it is there ${where}; set literal to find that.`;
}

interface Bounds {
  min: number;
  max: number;
}

/**
 * Returns an optional parameter; `integerWithDefault` returns one with a default. The description repeats bounds and default,
 * since some model vendors drop the keywords.
 */
export function optionalInteger(about: string, bounds: Bounds) {
  return integerWithin(bounds)
    .optional()
    .describe(`${about} (${range(bounds)}).`);
}

export function integerWithDefault(about: string, bounds: Bounds & { default: number }) {
  return integerWithin(bounds)
    .default(bounds.default)
    .describe(`${about} (${range(bounds)}, default ${bounds.default}).`);
}

function integerWithin({ min, max }: Bounds) {
  return z.int().min(min).max(max);
}

/** Smallest maximum that only keeps sums exact, and is not worth telling a model. */
export const BOUNDLESS = 1_000_000;

function range({ min, max }: Bounds): string {
  if (max >= BOUNDLESS) return `from ${min}`;
  return min < 0 ? `${min} to ${max}` : `${min}-${max}`;
}

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

type Fault = [key: string, message: string];

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const controlCharacter = /[\u0000-\u001f\u007f]/;
const envKey = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function labels() {
  return stringMap(limits.labels, (key, value) => {
    if (key.length < 1 || key.length > limits.labelKeyChars || controlCharacter.test(key)) {
      return `has a key that is not 1 to ${limits.labelKeyChars} characters without control characters`;
    }
    if (value.length > limits.labelValueChars) return `must be at most ${limits.labelValueChars} characters`;
    if (!value.isWellFormed() || !key.isWellFormed()) return 'must be valid Unicode';
    return null;
  });
}

export function environment() {
  return stringMap(limits.envVars, environmentFault).check(({ value, issues }) => {
    const total = Object.entries(value).reduce((sum, [key, item]) => sum + Buffer.byteLength(key + item), 0);
    if (total <= limits.envTotalBytes) return;
    const message = `must be at most ${limits.envTotalBytes} bytes in all; it is ${total}`;
    issues.push({ code: 'custom', input: value, message });
  });
}

/** Extended attributes of a file, named without their name space. */
export function fileMetadata() {
  const { entries, bytes, nameBytes } = limits.fileMetadata;
  return stringMap(entries, (key, value) => {
    if (key === '' || Buffer.byteLength(key) > nameBytes || key.includes('\0')) {
      return `has a name that is not 1 to ${nameBytes} bytes without NUL`;
    }
    if (Buffer.byteLength(key + value) > bytes) return `must be at most ${bytes} bytes, with its name`;
    if (!value.isWellFormed() || !key.isWellFormed()) return 'must be valid Unicode';
    return null;
  });
}

function environmentFault(key: string, value: string): string | null {
  if (!envKey.test(key) || key.length > limits.envKeyChars) {
    return `has a key that is not [A-Za-z_][A-Za-z0-9_]* of at most ${limits.envKeyChars} characters`;
  }
  if (Buffer.byteLength(value) > limits.envValueBytes) return `must be at most ${limits.envValueBytes} bytes`;
  if (value.includes('\0')) return 'must not contain a NUL character';
  if (!value.isWellFormed()) return 'must be valid Unicode';
  return null;
}

function stringMap(maxKeys: number, fault: (key: string, value: string) => string | null) {
  return z.record(z.string(), z.string()).check(({ value, issues }) => {
    const entries = Object.entries(value);
    if (entries.length > maxKeys) {
      const message = `must have at most ${maxKeys} keys; it has ${entries.length}`;
      issues.push({ code: 'custom', input: value, message });
      return;
    }
    const faults = entries.map(([key, item]): Fault => [key, fault(key, item) ?? '']);
    for (const [key, message] of faults.filter(([, text]) => text !== '')) {
      issues.push({ code: 'custom', input: value, path: [key], message });
    }
  });
}
