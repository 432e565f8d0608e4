/** Every administration action, in the order of their list. */
import { getFilePreviewUrl, getSigningKey, revokeAccess, rotateSigningKey } from './access.ts';
import type { Action } from './action.ts';
import { listAudit, verifyAudit } from './audit.ts';
import {
  listAuthorizations,
  pollAuthorization,
  revokeAuthorization,
  startAuthorization,
} from './authorizations.ts';
import { listAuthorizedApps, revokeAuthorizedApp } from './authorized-apps.ts';
import { listPasskeys, removePasskey, removePassword, renamePasskey } from './credentials.ts';
import { getHealth } from './health.ts';
import { linkIdentity, listIdentities, unlinkIdentity } from './identities.ts';
import { deleteSession, endTerminal, getFileDetails, listTerminals, setFileAttributes } from './inside.ts';
import { createKey, listKeys, revokeKey } from './keys.ts';
import { getNetworkLog, learnNetwork } from './network-log.ts';
import {
  allowNetwork,
  denyNetwork,
  getNetwork,
  listNetworkProfiles,
  setNetwork,
  setSnapshotNetwork,
} from './networks.ts';
import { setTeamNetwork, setUserNetwork } from './owner-networks.ts';
import { addRegistryCredentials, listRegistries, removeRegistryCredentials } from './registries.ts';
import { deleteAnySandbox, deleteSnapshot, listAllSandboxes, stopAnySandbox } from './sandboxes.ts';
import {
  createProviderSecret,
  createSecret,
  deleteSecret,
  giveSecret,
  listSecrets,
  rotateSecret,
  takeSecret,
  updateSecret,
} from './secrets.ts';
import {
  approveDeviceSignIn,
  createSignInLink,
  denyDeviceSignIn,
  getDeviceSignIn,
  listSignIns,
  revokeOtherSignIns,
  revokeSignIn,
} from './sign-ins.ts';
import { addTeamMember, createTeam, deleteTeam, listTeams, removeTeamMember, updateTeam } from './teams.ts';
import { createUser, deleteUser, disableUser, enableUser, listUsers, updateUser } from './users.ts';
import {
  createWebhook,
  deleteWebhook,
  listWebhookDeliveries,
  listWebhooks,
  redeliverWebhook,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
} from './webhooks.ts';

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
  getSigningKey,
  rotateSigningKey,
  listTerminals,
  endTerminal,
  deleteSession,
  getFileDetails,
  setFileAttributes,
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
  files: 'files of your sandboxes: details, set attributes, preview an image or PDF',
  sessions: 'sessions of your sandboxes: delete',
  terminals: 'terminals of your sandboxes: list, end',
  audit: 'audit log: list, verify',
  health: 'room, load and findings of the service',
  registries: 'credentials of image registries',
  webhooks: 'signed events of your sandboxes to a URL: list, create, test',
  auth: 'authorize the service at the code-hosting provider',
};
