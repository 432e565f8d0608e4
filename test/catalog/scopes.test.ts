/** Scopes of keys: each tool and each action asks for one, before anything else happens. */
import { describe, expect, it } from 'vitest';
import { callAction } from '../../src/administration/call.ts';
import { actions } from '../../src/administration/index.ts';
import { callTool, scopeOf } from '../../src/catalog/call.ts';
import { tools } from '../../src/catalog/index.ts';
import { type Scope, scopes } from '../../src/model/scopes.ts';
import { createFakeServices, user } from '../surfaces/fakes/fake-services.ts';

/** Tools that change nothing. All others of `Sandbox` need `sandboxes:write`. */
const reading = [
  'Sandbox.FindFiles',
  'Sandbox.GetFileInfo',
  'Sandbox.GetPortPreviewUrl',
  'Sandbox.GetSandbox',
  'Sandbox.GetSessionCommandLogs',
  'Sandbox.GetSnapshot',
  'Sandbox.GitBranches',
  'Sandbox.GitLog',
  'Sandbox.GitStatus',
  'Sandbox.ListFiles',
  'Sandbox.ListPorts',
  'Sandbox.ListRegions',
  'Sandbox.ListSandboxes',
  'Sandbox.ListSessions',
  'Sandbox.ListSnapshots',
  'Sandbox.ReadFile',
  'Sandbox.SearchContent',
  'Sandbox.WhoAmI',
];

const scopeOfAction: Record<string, Scope> = {
  CreateUser: 'admin',
  UpdateUser: 'admin',
  SetUserNetwork: 'admin',
  SetTeamNetwork: 'admin',
  DeleteUser: 'admin',
  DisableUser: 'admin',
  EnableUser: 'admin',
  ListIdentities: 'admin',
  LinkIdentity: 'admin',
  UnlinkIdentity: 'admin',
  CreateTeam: 'admin',
  UpdateTeam: 'admin',
  DeleteTeam: 'admin',
  AddTeamMember: 'admin',
  RemoveTeamMember: 'admin',
  ListTeams: 'account',
  ListAllSandboxes: 'admin',
  StopAnySandbox: 'admin',
  DeleteAnySandbox: 'admin',
  ListRegistries: 'admin',
  AddRegistryCredentials: 'admin',
  RemoveRegistryCredentials: 'admin',
  VerifyAudit: 'admin',
  GetHealth: 'admin',
  ListUsers: 'account',
  ListAudit: 'account',
  ListKeys: 'account',
  CreateKey: 'account',
  CreateSandboxToken: 'sandboxes:write',
  GetPublicPorts: 'sandboxes:read',
  SetPublicPorts: 'sandboxes:write',
  RevokeKey: 'account',
  ListSignIns: 'account',
  CreateSignInLink: 'account',
  RevokeSignIn: 'account',
  GetDeviceSignIn: 'account',
  ApproveDeviceSignIn: 'account',
  DenyDeviceSignIn: 'account',
  RevokeOtherSignIns: 'account',
  ListPasskeys: 'account',
  RenamePasskey: 'account',
  RemovePasskey: 'account',
  RemovePassword: 'account',
  ListAuthorizedApps: 'account',
  RevokeAuthorizedApp: 'account',
  StartAuthorization: 'account',
  PollAuthorization: 'account',
  ListAuthorizations: 'account',
  RevokeAuthorization: 'account',
  GetFilePreviewUrl: 'sandboxes:read',
  ListTerminals: 'sandboxes:read',
  EndTerminal: 'sandboxes:write',
  StartProcess: 'sandboxes:write',
  ListProcesses: 'sandboxes:read',
  SendProcessInput: 'sandboxes:write',
  SignalProcess: 'sandboxes:write',
  ResizeProcess: 'sandboxes:write',
  EndProcess: 'sandboxes:write',
  CreateContext: 'sandboxes:write',
  ListContexts: 'sandboxes:read',
  InterruptContext: 'sandboxes:write',
  RestartContext: 'sandboxes:write',
  DeleteContext: 'sandboxes:write',
  DeleteSession: 'sandboxes:write',
  GetSigningKey: 'sandboxes:write',
  RotateSigningKey: 'sandboxes:write',
  GetFileDetails: 'sandboxes:read',
  SetFileAttributes: 'sandboxes:write',
  SetSandboxDeadline: 'sandboxes:write',
  SetSandboxSleep: 'sandboxes:write',
  PauseSandbox: 'sandboxes:write',
  ResumeSandbox: 'sandboxes:write',
  GetUsageHistory: 'sandboxes:read',
  DeleteSnapshot: 'sandboxes:write',
  GetNetwork: 'sandboxes:read',
  SetNetwork: 'sandboxes:write',
  SetSnapshotNetwork: 'sandboxes:write',
  AllowNetwork: 'sandboxes:write',
  DenyNetwork: 'sandboxes:write',
  ListNetworkProfiles: 'sandboxes:read',
  GetNetworkLog: 'sandboxes:read',
  LearnNetwork: 'sandboxes:write',
  ListSecrets: 'sandboxes:read',
  CreateSecret: 'sandboxes:write',
  CreateProviderSecret: 'account',
  UpdateSecret: 'sandboxes:write',
  RotateSecret: 'sandboxes:write',
  DeleteSecret: 'sandboxes:write',
  GiveSecret: 'sandboxes:write',
  TakeSecret: 'sandboxes:write',
  RevokeAccess: 'sandboxes:write',
  GetAccessToken: 'sandboxes:read',
  RevokeAccessToken: 'sandboxes:write',
  ListWebhooks: 'sandboxes:read',
  ListWebhookDeliveries: 'sandboxes:read',
  CreateWebhook: 'sandboxes:write',
  UpdateWebhook: 'sandboxes:write',
  RotateWebhookSecret: 'sandboxes:write',
  DeleteWebhook: 'sandboxes:write',
  TestWebhook: 'sandboxes:write',
  RedeliverWebhook: 'sandboxes:write',
};

const { services } = createFakeServices();
const origin = { transport: 'http', address: null } as const;
const signal = new AbortController().signal;

function contextOf(given: readonly Scope[] | null) {
  const caller = { ...user, scopes: given };
  return { caller, services, requestId: 'req_1', origin, signal, progress() {} };
}

const lacking = (scope: Scope) => ({
  code: 'permission_denied',
  message: `This key, sign-in or application lacks the scope ${scope}.`,
});

describe('tools', () => {
  it('need one scope each: to read, to change, to query documents', () => {
    const needed = (scope: Scope) => tools.filter((tool) => scopeOf(tool) === scope).map(({ name }) => name);
    expect(needed('sandboxes:read').sort()).toEqual(reading);
    expect(needed('sandboxes:write')).toHaveLength(46 - reading.length);
    expect(needed('documents:read').map((name) => name.split('.')[0])).toEqual(Array(6).fill('DocumentDb'));
  });

  it.each(tools.map((tool) => [tool.name, scopeOf(tool)] as const))(
    '%s is refused without its scope, before its parameters are looked at',
    async (name, scope) => {
      const others = scopes.filter((other) => other !== scope);
      const call = callTool(name, { no: 'such parameter' }, contextOf(others));
      await expect(call).rejects.toMatchObject(lacking(scope));
    },
  );

  it('are all open to a key without a list', async () => {
    expect(await callTool('Sandbox.WhoAmI', {}, contextOf(null))).toMatchObject({ user_id: 'user_1' });
  });
});

describe('actions', () => {
  it.each(Object.entries(scopeOfAction))('%s needs %s', async (name, scope) => {
    const others = scopes.filter((other) => other !== scope);
    const call = callAction(name, { no: 'such parameter' }, contextOf(others));
    await expect(call).rejects.toMatchObject(lacking(scope));
  });

  it('have no other than these', () => {
    expect(actions.map(({ name }) => name).sort()).toEqual(Object.keys(scopeOfAction).sort());
  });
});
