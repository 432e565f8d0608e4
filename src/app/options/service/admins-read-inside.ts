/** Admins as readers of everybody's sandboxes. */
import { flag } from '../flag.ts';
import { yesOrNo } from '../yes-or-no.ts';

export const adminsReadInside = flag({
  name: 'admins-read-inside',
  default: 'no',
  help: "yes: admins may read inside everybody's sandboxes, as a viewer of a team may",
  parse: yesOrNo,
});
