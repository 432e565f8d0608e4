/** Fate of the sandboxes of a lost node. */
import { invalidArgument } from '../../../model/errors.ts';
import { flag } from '../flag.ts';

export const nodeLost = flag({
  name: 'node-lost',
  default: 'error',
  group: 'kubernetes',
  help: 'error: sandboxes of a lost node wait for somebody; restart: they start elsewhere once the node was removed',
  parse: (text, { flag }): 'error' | 'restart' => {
    if (text === 'error' || text === 'restart') return text;
    throw invalidArgument(flag, `${flag} must be error or restart, and '${text}' was given.`);
  },
});
