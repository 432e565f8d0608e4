/** Parser of the quota flags. */
import { limits } from '../../../model/limits.ts';
import { parseCount } from '../count.ts';
import type { FlagContext } from '../flag.ts';

/** Returns a number; null for no limit (`none`); undefined for the default of the user's role (`auto`). */
export function parseQuota(text: string, { flag }: FlagContext): number | null | undefined {
  if (text === 'auto') return undefined;
  return text === 'none' ? null : parseCount(flag, text, limits.quotaMax);
}
