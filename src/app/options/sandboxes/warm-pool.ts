/** Sandboxes made ahead of time; 0 turns the pool off. */
import { parseCount } from '../count.ts';
import { flag } from '../flag.ts';

const WARM_POOL_MAX = 100;

export const warmPool = flag({
  name: 'warm-pool',
  default: '4',
  help: 'sandboxes made ahead of time, 0 for none',
  parse: (text, { flag }) => parseCount(flag, text, WARM_POOL_MAX),
});
