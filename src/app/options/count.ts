/** Whole numbers from 0. */
import { invalidArgument } from '../../model/errors.ts';

export function parseCount(flag: string, text: string, max: number): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count > max) {
    throw invalidArgument(flag, `${flag} must be a whole number from 0 to ${max}, and '${text}' was given.`);
  }
  return count;
}
