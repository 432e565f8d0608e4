/** Every administration action, in the order of their list. */
import { revokeAccess } from './access/revoke-access.ts';
import type { Action } from './action.ts';
import { listAudit } from './audit/list-audit.ts';
import { verifyAudit } from './audit/verify-audit.ts';
import { listAuthorizations, revokeAuthorization } from './authorizations/kept-authorizations.ts';
import { pollAuthorization } from './authorizations/poll-authorization.ts';
import { startAuthorization } from './authorizations/start-authorization.ts';
import { deleteAnySandbox, stopAnySandbox } from './everybody/any-sandbox.ts';
import { listAllSandboxes } from './everybody/list-all-sandboxes.ts';
import { createKey } from './keys/create-key.ts';
import { listKeys } from './keys/list-keys.ts';
import { revokeKey } from './keys/revoke-key.ts';
import { addRegistryCredentials } from './registries/add-registry-credentials.ts';
import { listRegistries } from './registries/list-registries.ts';
import { removeRegistryCredentials } from './registries/remove-registry-credentials.ts';
import { createSignInLink } from './sign-ins/create-sign-in-link.ts';
import { listSignIns } from './sign-ins/list-sign-ins.ts';
import { revokeSignIn } from './sign-ins/revoke-sign-in.ts';
import { deleteSnapshot } from './snapshots/delete-snapshot.ts';
import { createTeam, deleteTeam, updateTeam } from './teams/change-teams.ts';
import { listTeams } from './teams/list-teams.ts';
import { addTeamMember, removeTeamMember } from './teams/team-members.ts';
import { endTerminal } from './terminals/end-terminal.ts';
import { listTerminals } from './terminals/list-terminals.ts';
import { createUser } from './users/create-user.ts';
import { disableUser, enableUser } from './users/disable-user.ts';
import { listUsers } from './users/list-users.ts';
import { updateUser } from './users/update-user.ts';

export const actions: readonly Action[] = [
  listUsers,
  createUser,
  updateUser,
  disableUser,
  enableUser,
  listTeams,
  createTeam,
  updateTeam,
  deleteTeam,
  addTeamMember,
  removeTeamMember,
  listKeys,
  createKey,
  revokeKey,
  listSignIns,
  createSignInLink,
  revokeSignIn,
  listAllSandboxes,
  stopAnySandbox,
  deleteAnySandbox,
  deleteSnapshot,
  revokeAccess,
  listTerminals,
  endTerminal,
  listAudit,
  verifyAudit,
  listRegistries,
  addRegistryCredentials,
  removeRegistryCredentials,
  listAuthorizations,
  startAuthorization,
  pollAuthorization,
  revokeAuthorization,
];

/** Subject of each command's first word, for the command line's help. */
export const commandGroups: Record<string, string> = {
  users: 'users of the service, their usage and quotas',
  teams: 'teams that own sandboxes together: list, create, add members',
  keys: 'API keys: create, list, revoke',
  'sign-ins': 'browsers: list, revoke, make a link to sign in',
  everybody: "everybody's sandboxes, for admins: list, stop, delete",
  snapshots: 'your snapshots: delete',
  access: 'SSH and preview access to your sandboxes: revoke',
  terminals: 'terminals of your sandboxes: list, end',
  audit: 'audit log: list, verify',
  registries: 'credentials of image registries',
  auth: 'authorize the service at the code-hosting provider',
};
