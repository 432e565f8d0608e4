/** Silence of a node that counts as its loss. */
import { invalidArgument } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { parseCount } from '../count.ts';
import { flag } from '../flag.ts';

const { min, max, default: standard } = limits.nodeLoss.afterSeconds;

export const nodeLostAfterSeconds = flag({
  name: 'node-lost-after-seconds',
  default: String(standard),
  group: 'kubernetes',
  help: 'silence of a node after which its sandboxes are in error',
  parse: (text, { flag }) => {
    const seconds = parseCount(flag, text, max);
    if (seconds >= min) return seconds;
    throw invalidArgument(flag, `${flag} must be at least ${min}, and ${text} was given.`);
  },
});
