/** Sandboxes made ahead of time: a number, or bounds between which the pool follows demand; 0 turns it off. */
import type { PoolBounds } from '../../../control/pool/size.ts';
import { invalidArgument } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { parseCount } from '../count.ts';
import { flag } from '../flag.ts';

export const warmPool = flag({
  name: 'warm-pool',
  default: '4',
  help: 'sandboxes made ahead of time, 0 for none, 2..20 to follow demand',
  parse: (text, { flag }) => parseBounds(flag, text),
});

function parseBounds(flag: string, text: string): PoolBounds {
  const count = (part: string): number => parseCount(flag, part, limits.warmPool.max);
  const [, least, most] = /^(\d+)\.\.(\d+)$/.exec(text) ?? [];
  if (least === undefined || most === undefined) return { min: count(text), max: count(text) };
  const bounds = { min: count(least), max: count(most) };
  if (bounds.min > bounds.max)
    throw invalidArgument(flag, `${flag} must name the smaller number first, and '${text}' was given.`);
  return bounds;
}
