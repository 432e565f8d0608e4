/** Every administration action, in the order of their list. */
import { getFilePreviewUrl } from './access/get-file-preview-url.ts';
import { revokeAccess } from './access/revoke-access.ts';
import type { Action } from './action.ts';
import { listAudit } from './audit/list-audit.ts';
import { verifyAudit } from './audit/verify-audit.ts';
import { listAuthorizations, revokeAuthorization } from './authorizations/kept-authorizations.ts';
import { pollAuthorization } from './authorizations/poll-authorization.ts';
import { startAuthorization } from './authorizations/start-authorization.ts';
import { listAuthorizedApps } from './authorized-apps/list-authorized-apps.ts';
import { revokeAuthorizedApp } from './authorized-apps/revoke-authorized-app.ts';
import { listPasskeys } from './credentials/list-passkeys.ts';
import { removePasskey } from './credentials/remove-passkey.ts';
import { removePassword } from './credentials/remove-password.ts';
import { renamePasskey } from './credentials/rename-passkey.ts';
import { deleteAnySandbox, stopAnySandbox } from './everybody/any-sandbox.ts';
import { listAllSandboxes } from './everybody/list-all-sandboxes.ts';
import { getHealth } from './health/get-health.ts';
import { linkIdentity, unlinkIdentity } from './identities/link-identity.ts';
import { listIdentities } from './identities/list-identities.ts';
import { createKey } from './keys/create-key.ts';
import { listKeys } from './keys/list-keys.ts';
import { revokeKey } from './keys/revoke-key.ts';
import { allowNetwork, denyNetwork } from './networks/change-rules.ts';
import { getNetwork } from './networks/get-network.ts';
import { getNetworkLog } from './networks/get-network-log.ts';
import { learnNetwork } from './networks/learn-network.ts';
import { listNetworkProfiles } from './networks/list-network-profiles.ts';
import { setNetwork } from './networks/set-network.ts';
import { setTeamNetwork, setUserNetwork } from './networks/set-owner-network.ts';
import { setSnapshotNetwork } from './networks/set-snapshot-network.ts';
import { addRegistryCredentials } from './registries/add-registry-credentials.ts';
import { listRegistries } from './registries/list-registries.ts';
import { removeRegistryCredentials } from './registries/remove-registry-credentials.ts';
import { createProviderSecret } from './secrets/create-provider-secret.ts';
import { createSecret } from './secrets/create-secret.ts';
import { deleteSecret } from './secrets/delete-secret.ts';
import { giveSecret, takeSecret } from './secrets/give-secret.ts';
import { listSecrets } from './secrets/list-secrets.ts';
import { rotateSecret } from './secrets/rotate-secret.ts';
import { updateSecret } from './secrets/update-secret.ts';
import { createSignInLink } from './sign-ins/create-sign-in-link.ts';
import { approveDeviceSignIn, denyDeviceSignIn } from './sign-ins/decide-device-sign-in.ts';
import { getDeviceSignIn } from './sign-ins/get-device-sign-in.ts';
import { listSignIns } from './sign-ins/list-sign-ins.ts';
import { revokeOtherSignIns } from './sign-ins/revoke-other-sign-ins.ts';
import { revokeSignIn } from './sign-ins/revoke-sign-in.ts';
import { deleteSnapshot } from './snapshots/delete-snapshot.ts';
import { createTeam, deleteTeam, updateTeam } from './teams/change-teams.ts';
import { listTeams } from './teams/list-teams.ts';
import { addTeamMember, removeTeamMember } from './teams/team-members.ts';
import { endTerminal } from './terminals/end-terminal.ts';
import { listTerminals } from './terminals/list-terminals.ts';
import { createUser } from './users/create-user.ts';
import { deleteUser } from './users/delete-user.ts';
import { disableUser, enableUser } from './users/disable-user.ts';
import { listUsers } from './users/list-users.ts';
import { updateUser } from './users/update-user.ts';
import { createWebhook } from './webhooks/create-webhook.ts';
import { deleteWebhook } from './webhooks/delete-webhook.ts';
import { listWebhookDeliveries, redeliverWebhook } from './webhooks/deliveries.ts';
import { listWebhooks } from './webhooks/list-webhooks.ts';
import { rotateWebhookSecret } from './webhooks/rotate-webhook-secret.ts';
import { testWebhook } from './webhooks/test-webhook.ts';
import { updateWebhook } from './webhooks/update-webhook.ts';

export const actions: readonly Action[] = [
  listUsers,
  createUser,
  updateUser,
  disableUser,
  enableUser,
  deleteUser,
  setUserNetwork,
  listTeams,
  createTeam,
  updateTeam,
  setTeamNetwork,
  deleteTeam,
  addTeamMember,
  removeTeamMember,
  listKeys,
  createKey,
  revokeKey,
  listSignIns,
  createSignInLink,
  revokeSignIn,
  getDeviceSignIn,
  approveDeviceSignIn,
  denyDeviceSignIn,
  revokeOtherSignIns,
  listPasskeys,
  renamePasskey,
  removePasskey,
  removePassword,
  listIdentities,
  linkIdentity,
  unlinkIdentity,
  listAuthorizedApps,
  revokeAuthorizedApp,
  listAllSandboxes,
  stopAnySandbox,
  deleteAnySandbox,
  deleteSnapshot,
  getNetwork,
  setNetwork,
  setSnapshotNetwork,
  allowNetwork,
  denyNetwork,
  listNetworkProfiles,
  getNetworkLog,
  learnNetwork,
  listSecrets,
  createSecret,
  createProviderSecret,
  updateSecret,
  rotateSecret,
  deleteSecret,
  giveSecret,
  takeSecret,
  revokeAccess,
  getFilePreviewUrl,
  listTerminals,
  endTerminal,
  listAudit,
  verifyAudit,
  getHealth,
  listRegistries,
  addRegistryCredentials,
  removeRegistryCredentials,
  listAuthorizations,
  startAuthorization,
  pollAuthorization,
  revokeAuthorization,
  listWebhooks,
  createWebhook,
  updateWebhook,
  rotateWebhookSecret,
  deleteWebhook,
  testWebhook,
  listWebhookDeliveries,
  redeliverWebhook,
];

/** Subject of each command's first word, for the command line's help. */
export const commandGroups: Record<string, string> = {
  users: 'users of the service, their usage and quotas',
  teams: 'teams that own sandboxes together: list, create, add members',
  keys: 'API keys: create, list, revoke',
  'sign-ins': 'browsers: list, revoke, make a link; machines: approve their codes',
  passkeys: 'passkeys: list, rename, remove; the page adds them',
  passwords: 'passwords: remove; the page sets them',
  identities: 'people of the identity provider: list, link with a user, unlink',
  apps: 'applications that may act for you over MCP: list, revoke',
  everybody: "everybody's sandboxes, for admins: list, stop, delete",
  snapshots: 'your snapshots: delete',
  network: 'networks of your sandboxes and snapshots: get, set, allow, deny, log, learn',
  secrets: 'secrets that requests of your sandboxes carry: list, create, give',
  access: 'SSH and preview access to your sandboxes: revoke',
  files: 'images and PDFs of your sandboxes: an address to look at one',
  terminals: 'terminals of your sandboxes: list, end',
  audit: 'audit log: list, verify',
  health: 'room, load and findings of the service',
  registries: 'credentials of image registries',
  webhooks: 'signed events of your sandboxes to a URL: list, create, test',
  auth: 'authorize the service at the code-hosting provider',
};
