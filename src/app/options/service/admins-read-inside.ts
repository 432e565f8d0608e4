/** Admins as readers of everybody's sandboxes. */
import { invalidArgument } from '../../../model/errors.ts';
import { flag } from '../flag.ts';

export const adminsReadInside = flag({
  name: 'admins-read-inside',
  default: 'no',
  help: "yes: admins may read inside everybody's sandboxes, as a viewer of a team may",
  parse(text, { flag }): boolean {
    if (text === 'yes' || text === 'no') return text === 'yes';
    throw invalidArgument(flag, `${flag} must be yes or no, and '${text}' was given.`);
  },
});
