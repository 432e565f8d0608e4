/**
 * Strings and integers with bounds. Strings have them in bytes, and no characters that UTF-8 and C strings cannot
 * hold.
 */
import { z } from 'zod';
import { invalidArgument } from '../../model/errors.ts';

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
