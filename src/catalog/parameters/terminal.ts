/** Id of a terminal. */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';

const { idChars } = limits.terminal;

export function terminalId() {
  return z
    .string()
    .regex(new RegExp(`^[A-Za-z0-9_-]{1,${idChars}}$`), `must be 1-${idChars} letters, digits, _ or -`);
}
