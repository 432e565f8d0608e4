/** Every administration action, in the order in which they are listed. */
import type { Action } from './action.ts';
import { addRegistryCredentials } from './registries/add-registry-credentials.ts';
import { listRegistries } from './registries/list-registries.ts';
import { removeRegistryCredentials } from './registries/remove-registry-credentials.ts';
import { createUser } from './users/create-user.ts';
import { listUsers } from './users/list-users.ts';

export const actions: readonly Action[] = [
  listUsers,
  createUser,
  listRegistries,
  addRegistryCredentials,
  removeRegistryCredentials,
];

/** What the first word of a command is about, for the command line's help. */
export const commandGroups: Record<string, string> = {
  users: 'users of the service, and what they use',
  registries: 'credentials of image registries',
};
