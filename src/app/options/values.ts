/** Values that several flags have: whole numbers, yes or no, limits and quotas. */
import { invalidArgument } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { FlagContext } from './flag.ts';

/** Whole numbers from 0. */
export function parseCount(flag: string, text: string, max: number): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count > max) {
    throw invalidArgument(flag, `${flag} must be a whole number from 0 to ${max}, and '${text}' was given.`);
  }
  return count;
}

export function yesOrNo(text: string, { flag }: FlagContext): boolean {
  if (text === 'yes' || text === 'no') return text === 'yes';
  throw invalidArgument(flag, `${flag} must be yes or no, and '${text}' was given.`);
}

/** Whole numbers from 1; null for none. */
export function parseLimit(text: string, { flag }: Pick<FlagContext, 'flag'>, max: number): number | null {
  if (text === 'none') return null;
  const count = parseCount(flag, text, max);
  if (count > 0) return count;
  throw invalidArgument(flag, `${flag} must be at least 1, or none.`);
}

/** Returns a number; null for no limit (`none`); undefined for the default of the user's role (`auto`). */
export function parseQuota(text: string, { flag }: FlagContext): number | null | undefined {
  if (text === 'auto') return undefined;
  return text === 'none' ? null : parseCount(flag, text, limits.quotaMax);
}
