/** Value of a flag that is yes or no. */
import { invalidArgument } from '../../model/errors.ts';
import type { FlagContext } from './flag.ts';

export function yesOrNo(text: string, { flag }: FlagContext): boolean {
  if (text === 'yes' || text === 'no') return text === 'yes';
  throw invalidArgument(flag, `${flag} must be yes or no, and '${text}' was given.`);
}
