/** Parser of limits of traffic: whole numbers from 1, or none. */
import { invalidArgument } from '../../../../model/errors.ts';
import { parseCount } from '../../count.ts';
import type { FlagContext } from '../../flag.ts';

export function parseLimit(text: string, { flag }: Pick<FlagContext, 'flag'>, max: number): number | null {
  if (text === 'none') return null;
  const count = parseCount(flag, text, max);
  if (count > 0) return count;
  throw invalidArgument(flag, `${flag} must be at least 1, or none.`);
}
