/** Whether a pattern is an expression or plain text. */
import { z } from 'zod';

export const literal = z.boolean().optional().describe('Plain text, no expression.');

/** For an expression that finds nothing. @param where `3 times`, `in 2 files`. */
export function plainTextNote(where: string): string {
  return `Nothing matches the expression, but as plain text it is there ${where}; set literal to find that.`;
}
