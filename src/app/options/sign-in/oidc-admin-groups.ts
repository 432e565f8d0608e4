/** Groups whose members are admins. */
import { flag } from '../flag.ts';

export const oidcAdminGroups = flag({
  name: 'oidc-admin-groups',
  default: '',
  help: 'groups whose members are admins',
  parse: (text) => text,
});
