/** Tokens of one sandbox: all tools, actions and routes are tried with one, and only those below are open to it. */
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callAction } from '../../src/administration/call.ts';
import { actions } from '../../src/administration/index.ts';
import { callTool } from '../../src/catalog/call.ts';
import { allTools } from '../../src/catalog/index.ts';
import { addDaytonaRoutes } from '../../src/surfaces/daytona/routes.ts';
import { createFakeServices, MEMBER_KEY, user } from './fakes/fake-services.ts';
import { type Harness, startHttp } from './http/http-harness.ts';

const openTools = [
  'Sandbox.CreateFolder',
  'Sandbox.CreateSession',
  'Sandbox.DeleteFile',
  'Sandbox.FindFiles',
  'Sandbox.GetFileInfo',
  'Sandbox.GetPortPreviewUrl',
  'Sandbox.GetSessionCommandLogs',
  'Sandbox.ListFiles',
  'Sandbox.ListPorts',
  'Sandbox.ListSessions',
  'Sandbox.MoveFile',
  'Sandbox.ReadFile',
  'Sandbox.ReplaceInFiles',
  'Sandbox.RunCode',
  'Sandbox.RunCommand',
  'Sandbox.RunInContext',
  'Sandbox.RunSessionCommand',
  'Sandbox.SearchContent',
  'Sandbox.SendSessionInput',
  'Sandbox.WriteFile',
];

/** About the sandbox itself, about others, about the owner, or by the owner's credentials. */
const closedTools = [
  'DocumentDb.AggregateDocuments',
  'DocumentDb.CountDocuments',
  'DocumentDb.DiscoverCollections',
  'DocumentDb.DiscoverDatabases',
  'DocumentDb.FindDocuments',
  'DocumentDb.GetCollectionSchema',
  'Sandbox.ArchiveSandbox',
  'Sandbox.ConfigureSandboxAuto',
  'Sandbox.CreateSandbox',
  'Sandbox.CreateSnapshot',
  'Sandbox.CreateSshAccess',
  'Sandbox.DeleteSandbox',
  'Sandbox.ForkSandbox',
  'Sandbox.GetSandbox',
  'Sandbox.GetSnapshot',
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
  'Sandbox.ListRegions',
  'Sandbox.ListSandboxes',
  'Sandbox.ListSnapshots',
  'Sandbox.ResizeSandbox',
  'Sandbox.RollbackSandbox',
  'Sandbox.SetSandboxLabels',
  'Sandbox.SnapshotSandbox',
  'Sandbox.StartSandbox',
  'Sandbox.StopSandbox',
  'Sandbox.WhoAmI',
];

const openActions = [
  'CreateContext',
  'DeleteContext',
  'DeleteSession',
  'EndProcess',
  'EndTerminal',
  'GetFileDetails',
  'GetFilePreviewUrl',
  'InterruptContext',
  'ListContexts',
  'ListProcesses',
  'ListTerminals',
  'ResizeProcess',
  'RestartContext',
  'SendProcessInput',
  'SetFileAttributes',
  'SignalProcess',
  'StartProcess',
];

const closedActions = [
  'AddRegistryCredentials',
  'AddTeamMember',
  'AllowNetwork',
  'ApproveDeviceSignIn',
  'CreateKey',
  'CreateProviderSecret',
  'CreateSandboxToken',
  'CreateSecret',
  'CreateSignInLink',
  'CreateTeam',
  'CreateUser',
  'CreateWebhook',
  'DeleteAnySandbox',
  'DeleteSecret',
  'DeleteSnapshot',
  'DeleteTeam',
  'DeleteUser',
  'DeleteWebhook',
  'DenyDeviceSignIn',
  'DenyNetwork',
  'DisableUser',
  'EnableUser',
  'GetAccessToken',
  'GetDeviceSignIn',
  'GetHealth',
  'GetNetwork',
  'GetNetworkLog',
  'GetPublicPorts',
  'GetSigningKey',
  'GetUsageHistory',
  'GiveSecret',
  'LearnNetwork',
  'LinkIdentity',
  'ListAllSandboxes',
  'ListAudit',
  'ListAuthorizations',
  'ListAuthorizedApps',
  'ListIdentities',
  'ListKeys',
  'ListNetworkProfiles',
  'ListPasskeys',
  'ListRegistries',
  'ListSecrets',
  'ListSignIns',
  'ListTeams',
  'ListUsers',
  'ListWebhookDeliveries',
  'ListWebhooks',
  'PauseSandbox',
  'PollAuthorization',
  'RedeliverWebhook',
  'RemovePasskey',
  'RemovePassword',
  'RemoveRegistryCredentials',
  'RemoveTeamMember',
  'RenamePasskey',
  'ResumeSandbox',
  'RevokeAccess',
  'RevokeAccessToken',
  'RevokeAuthorization',
  'RevokeAuthorizedApp',
  'RevokeKey',
  'RevokeOtherSignIns',
  'RevokeSignIn',
  'RotateSecret',
  'RotateSigningKey',
  'RotateWebhookSecret',
  'SetNetwork',
  'SetPublicPorts',
  'SetSandboxDeadline',
  'SetSandboxSleep',
  'SetSnapshotNetwork',
  'SetTeamNetwork',
  'SetUserNetwork',
  'StartAuthorization',
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

const openRoutes = [
  'GET /v1/sandboxes/:sandbox/files',
  'GET /v1/sandboxes/:sandbox/files/watch',
  'GET /v1/sandboxes/:sandbox/processes/:process/output',
  'GET /v1/sandboxes/:sandbox/terminal',
  'GET /v1/sandboxes/:sandbox/tunnel',
  'HEAD /v1/sandboxes/:sandbox/files',
  'POST /v1/admin/:name',
  'POST /v1/tools/:name',
  'PUT /v1/sandboxes/:sandbox/files',
];

/** A call that is let in fails for this parameter, or succeeds without any. */
const wrong = { no: 'such parameter' };

const refusal = (name: string) => ({
  code: 'permission_denied',
  message: `${name} is closed to tokens of one sandbox: they open its files, programs and previews.`,
});

describe('a token of one sandbox', () => {
  const { services } = createFakeServices();
  const context = {
    caller: { ...user, only: { sandboxId: 'sb_0000000000000001', epoch: 0 } },
    services,
    requestId: 'req_1',
    origin: { transport: 'http', address: null } as const,
    signal: new AbortController().signal,
    progress() {},
  };

  it('finds each tool and each action either open or closed', () => {
    expect(allTools.map(({ name }) => name).sort()).toEqual([...openTools, ...closedTools].sort());
    expect(actions.map(({ name }) => name).sort()).toEqual([...openActions, ...closedActions].sort());
  });

  it.each(openTools)('may call %s', async (name) => {
    await expect(callTool(name, wrong, context)).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  it.each(closedTools)('may not call %s', async (name) => {
    await expect(callTool(name, wrong, context)).rejects.toMatchObject(refusal(name));
  });

  it.each(openActions)('may carry out %s', async (name) => {
    await expect(callAction(name, wrong, context)).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  it.each(closedActions)('may not carry out %s', async (name) => {
    await expect(callAction(name, wrong, context)).rejects.toMatchObject(refusal(name));
  });
});

describe('over HTTP', () => {
  let http: Harness;
  let app: FastifyInstance;
  let id: string;
  let token: string;

  const post = async (path: string, parameters: unknown, key: string, more = {}) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...more };
    const response = await fetch(http.url + path, {
      method: 'POST',
      headers,
      body: JSON.stringify(parameters),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

  beforeEach(async () => {
    http = await startHttp({
      further(routes, parts) {
        app = routes;
        addDaytonaRoutes(routes, parts);
      },
    });
    const made = await post('/v1/tools/Sandbox.CreateSandbox', { name: 'box' }, MEMBER_KEY);
    id = String(made.body['id']);
    const given = await post('/v1/admin/CreateSandboxToken', { sandbox: 'box' }, MEMBER_KEY);
    token = String(given.body['token']);
  });

  afterEach(() => http.close());

  it('opens no route but those of the list', async () => {
    const all = routesOf(app);
    expect(all.length).toBeGreaterThan(100);
    const open: string[] = [];
    for (const route of all) {
      const [method = '', url = ''] = route.split(' ');
      const path = url
        .replace(':sandbox', id)
        .replace(/:\w+|\*/g, 'x')
        .replace(/^(?!\/)/, '/');
      const response = await fetch(http.url + path, {
        method,
        headers: { authorization: `Bearer ${token}` },
      });
      const stranger = await fetch(http.url + path, { method });
      await response.body?.cancel();
      await stranger.body?.cancel();
      // What is for everybody is no matter of the token.
      if (stranger.status === 401 && response.status !== 403) open.push(route);
    }
    expect(open.sort()).toEqual(openRoutes);
  });

  it('is made by its owner with an id for the audit log, and an end', async () => {
    const { body } = await post(
      '/v1/admin/CreateSandboxToken',
      { sandbox: 'box', expires_in_minutes: 5 },
      MEMBER_KEY,
    );
    expect(body).toEqual({
      sandbox: id,
      token: expect.stringMatching(/^sbt_[0-9a-z]{16}_[0-9a-z]{16}_[0-9a-z]{8}_[a-z2-7]{26}$/),
      token_id: expect.stringMatching(/^tok_[a-z2-7]{16}$/),
      expires_at: expect.any(String),
    });
    const inMs = Date.parse(String(body['expires_at'])) - Date.now();
    expect(inMs).toBeGreaterThan(290_000);
    expect(inMs).toBeLessThanOrEqual(300_000);
  });

  it('runs a command for its owner, under its own id in the audit log', async () => {
    const { body: given } = await post('/v1/admin/CreateSandboxToken', { sandbox: 'box' }, MEMBER_KEY);
    const ran = await post('/v1/tools/Sandbox.RunCommand', { command: 'ls' }, String(given['token']));
    expect(ran.status).toBe(200);
    const refused = await post('/v1/tools/Sandbox.ListSandboxes', {}, String(given['token']));
    expect(refused).toMatchObject({ status: 403, body: { code: 'permission_denied' } });
    const audit = await post('/v1/admin/ListAudit', { key: given['token_id'] }, MEMBER_KEY);
    expect(audit.body['rows']).toMatchObject([
      { action: 'Sandbox.RunCommand', user_id: 'user_2', key_id: given['token_id'], outcome: 'ok' },
      { action: 'Sandbox.ListSandboxes', user_id: 'user_2', outcome: 'permission_denied' },
    ]);
  });

  it('acts for no team, and opens nothing after a revocation, or when its owner is disabled', async () => {
    const run = (more = {}) => post('/v1/tools/Sandbox.RunCommand', { command: 'ls' }, token, more);
    expect(await run({ 'Sandhaven-Team': 'red' })).toMatchObject({ status: 404, body: { resource: 'team' } });
    expect((await run()).status).toBe(200);
    await http.fetch('/v1/admin/DisableUser', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ user: 'user_2' }),
    });
    expect((await run()).status).toBe(401);
    await http.fetch('/v1/admin/EnableUser', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ user: 'user_2' }),
    });
    expect((await run()).status).toBe(200);
    await post('/v1/admin/RevokeAccess', { sandbox: 'box', kind: 'token' }, MEMBER_KEY);
    expect((await run()).status).toBe(401);
  });
});

/** `GET /v1/tools`, of the tree that fastify prints. */
function routesOf(app: FastifyInstance): string[] {
  const above: string[] = [];
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', part = '', methods = ''] =
        /^(.*?)(?:├──|└──) (\S+)(?: \((.*)\))?$/.exec(line) ?? [];
      if (part === '') return [];
      const depth = indent.length / 4;
      above.splice(depth, above.length, part);
      return methods
        .split(', ')
        .filter((method) => /^(GET|HEAD|POST|PUT|PATCH|DELETE)$/.test(method))
        .map((method) => `${method} ${above.join('')}`);
    });
}
