/** Viewers: what of the whole catalogue they may call, and that they may call nothing else. */
import { describe, expect, it } from 'vitest';
import { callAction } from '../../src/administration/call.ts';
import { actions } from '../../src/administration/index.ts';
import { callTool } from '../../src/catalog/call.ts';
import { tools } from '../../src/catalog/index.ts';
import { withinScopes } from '../../src/model/scopes.ts';
import { createFakeServices, user } from '../surfaces/fakes/fake-services.ts';

const open = [
  'DocumentDb.AggregateDocuments',
  'DocumentDb.CountDocuments',
  'DocumentDb.FindDocuments',
  'DocumentDb.GetCollectionSchema',
  'DocumentDb.DiscoverCollections',
  'DocumentDb.DiscoverDatabases',
  'Sandbox.FindFiles',
  'Sandbox.GetFileInfo',
  'Sandbox.GetSandbox',
  'Sandbox.GetSessionCommandLogs',
  'Sandbox.GetSnapshot',
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

/** Tools that change something, run something, or let visitors in. */
const closed = [
  'Sandbox.ArchiveSandbox',
  'Sandbox.ConfigureSandboxAuto',
  'Sandbox.CreateFolder',
  'Sandbox.CreateSandbox',
  'Sandbox.CreateSession',
  'Sandbox.CreateSnapshot',
  'Sandbox.CreateSshAccess',
  'Sandbox.DeleteFile',
  'Sandbox.DeleteSandbox',
  'Sandbox.GetPortPreviewUrl',
  'Sandbox.GitAdd',
  'Sandbox.GitBranches',
  'Sandbox.GitCheckout',
  'Sandbox.GitClone',
  'Sandbox.GitCommit',
  'Sandbox.GitCreateBranch',
  'Sandbox.GitDeleteBranch',
  'Sandbox.GitLog',
  'Sandbox.GitPull',
  'Sandbox.GitPush',
  'Sandbox.GitStatus',
  'Sandbox.MoveFile',
  'Sandbox.ReplaceInFiles',
  'Sandbox.ResizeSandbox',
  'Sandbox.RunCode',
  'Sandbox.RunCommand',
  'Sandbox.RunSessionCommand',
  'Sandbox.SendSessionInput',
  'Sandbox.SetSandboxLabels',
  'Sandbox.StartSandbox',
  'Sandbox.StopSandbox',
  'Sandbox.WriteFile',
];

const closedActions = [
  'AddRegistryCredentials',
  'AddTeamMember',
  'AllowNetwork',
  'CreateContext',
  'CreateProviderSecret',
  'CreateSandboxToken',
  'CreateSecret',
  'CreateTeam',
  'CreateUser',
  'CreateWebhook',
  'DeleteAnySandbox',
  'DeleteContext',
  'DeleteSecret',
  'DeleteSession',
  'DeleteSnapshot',
  'DeleteTeam',
  'DeleteWebhook',
  'DenyNetwork',
  'DeleteUser',
  'DisableUser',
  'EnableUser',
  'EndProcess',
  'EndTerminal',
  'GetAccessToken',
  'GetFilePreviewUrl',
  'GetHealth',
  'GetSigningKey',
  'InterruptContext',
  'LearnNetwork',
  'GiveSecret',
  'LinkIdentity',
  'ListAllSandboxes',
  'ListIdentities',
  'ListRegistries',
  'PauseSandbox',
  'RedeliverWebhook',
  'RemoveRegistryCredentials',
  'RemoveTeamMember',
  'ResizeProcess',
  'RestartContext',
  'ResumeSandbox',
  'RevokeAccess',
  'RevokeAccessToken',
  'RotateSecret',
  'RotateSigningKey',
  'RotateWebhookSecret',
  'SendProcessInput',
  'SetFileAttributes',
  'SetNetwork',
  'SetPublicPorts',
  'SetSandboxDeadline',
  'SetSandboxSleep',
  'SetSnapshotNetwork',
  'SetTeamNetwork',
  'SetUserNetwork',
  'SignalProcess',
  'StartProcess',
  'StopAnySandbox',
  'TakeSecret',
  'TestWebhook',
  'UnlinkIdentity',
  'UpdateSecret',
  'UpdateTeam',
  'UpdateUser',
  'UpdateWebhook',
  'VerifyAudit',
];

const { services } = createFakeServices();
const context = {
  caller: withinScopes({ ...user, role: 'viewer' as const }),
  services,
  requestId: 'req_1',
  origin: { transport: 'http', address: null } as const,
  signal: new AbortController().signal,
  progress() {},
};

const refused = {
  code: 'permission_denied',
  message: 'A viewer changes nothing, runs nothing and opens no access.',
};
/** A call that is let in fails for this parameter, or succeeds without any. */
const wrong = { no: 'such parameter' };

describe('a viewer', () => {
  it('finds each tool of the catalogue either open or closed', () => {
    expect(tools.map(({ name }) => name).sort()).toEqual([...open, ...closed].sort());
  });

  it.each(open)('may call %s', async (name) => {
    await expect(callTool(name, wrong, context)).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  it.each(closed)('may not call %s, whatever its parameters', async (name) => {
    await expect(callTool(name, wrong, context)).rejects.toMatchObject(refused);
  });

  it.each(closedActions)('may not call the action %s', async (name) => {
    await expect(callAction(name, wrong, context)).rejects.toMatchObject(refused);
  });

  it('may call all other actions: they read, or are about the account', async () => {
    const others = actions.map(({ name }) => name).filter((name) => !closedActions.includes(name));
    for (const name of others) {
      const call = callAction(name, wrong, context);
      await expect(call, name).rejects.toMatchObject({ code: 'invalid_argument' });
    }
  });
});
