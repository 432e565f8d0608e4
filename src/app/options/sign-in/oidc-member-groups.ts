/** Groups whose members may sign in; nobody else does then. */
import { flag } from '../flag.ts';

export const oidcMemberGroups = flag({
  name: 'oidc-member-groups',
  default: '',
  help: 'groups whose members may sign in',
  parse: (text) => text,
});
