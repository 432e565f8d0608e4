/** Parameter that makes a pattern plain text instead of an expression. */
import { z } from 'zod';

export const literal = z.boolean().optional().describe('Plain text, no expression.');

/** Returns the note for an expression that finds nothing. @param where `3 times`, `in 2 files`. */
export function plainTextNote(where: string): string {
  return `Nothing matches the expression, but as plain text it is there ${where}; set literal to find that.`;
}
