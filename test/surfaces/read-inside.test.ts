/** Admins who read inside everybody's sandboxes: nobody without the operator's word, and with it as a viewer does. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { concerns } from '../../src/control/audit/scope.ts';
import type { Services } from '../../src/control/services.ts';
import { cliFor } from './cli/cli-harness.ts';
import { API_KEY, MEMBER_KEY } from './fakes/fake-services.ts';
import { type Harness, startHttp } from './http/http-harness.ts';

const ben = 'ben@example.org';

let http: Harness;
/** A sandbox of Ben's, and one of the team red, in which Ben is. */
let own: string;

afterEach(() => http.close());

async function start(adminsReadInside: boolean) {
  http = await startHttp({}, { adminsReadInside });
  ownFilesOnly(http.services);
  http.files.set('notes.txt', { content: Buffer.from('four words in here\n'), mode: 0o644 });
  await act('CreateTeam', { name: 'red' });
  await act('AddTeamMember', { team: 'red', user: ben });
  own = String((await call('CreateSandbox', { name: 'box' }, MEMBER_KEY)).body['id']);
  await call('CreateSandbox', { name: 'shared' }, MEMBER_KEY, 'red');
}

/** The files in memory are those of every sandbox that the caller finds. */
function ownFilesOnly({ files, sandboxes }: Services): void {
  const { read } = files;
  Object.assign(files, {
    read: async (...given: Parameters<Services['files']['read']>) => {
      concerns((await sandboxes.get(given[0], given[1] ?? '')).id);
      return read(...given);
    },
  });
}

async function post(path: string, parameters: unknown, key: string, owner?: string) {
  const response = await fetch(`${http.url}${path}`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(owner === undefined ? {} : { 'Sandhaven-Team': owner }),
    },
    body: JSON.stringify(parameters),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const act = (name: string, parameters: unknown, key = API_KEY, owner?: string) =>
  post(`/v1/admin/${name}`, parameters, key, owner);
const call = (name: string, parameters: unknown, key = API_KEY, owner?: string) =>
  post(`/v1/tools/Sandbox.${name}`, parameters, key, owner);
const readFile = (sandbox: string, key: string, owner?: string) =>
  call('ReadFile', { sandbox, path: 'notes.txt' }, key, owner);

const absent = (owner: string) => ({
  status: 404,
  body: { code: 'not_found', resource: 'team', detail: `You are in no team '${owner}'.` },
});

describe('an admin', () => {
  it('reads nothing inside by default', async () => {
    await start(false);
    for (const owner of [ben, 'user_2', 'red']) {
      expect(await readFile('box', API_KEY, owner), owner).toMatchObject(absent(owner));
    }
    expect(await readFile(own, API_KEY)).toMatchObject({ status: 404, body: { resource: 'sandbox' } });
    expect((await act('ListAllSandboxes', {})).body).toMatchObject({ may_read_inside: false });
  });
});

describe('an admin whom the operator lets read inside', () => {
  beforeEach(() => start(true));

  it('reads a file of a user, by email or id, and one of a team, by name', async () => {
    for (const [sandbox, owner] of [
      ['box', ben],
      ['box', 'BEN@example.org'],
      [own, 'user_2'],
      ['shared', 'red'],
    ] as const) {
      expect(await readFile(sandbox, API_KEY, owner), owner).toMatchObject({
        status: 200,
        body: { content: 'four words in here\n' },
      });
    }
    expect((await call('WhoAmI', {}, API_KEY, ben)).body).toEqual({
      ...{ user_id: 'user_1', name: 'Ada', email: 'ada@example.org' },
      team: { id: 'user_2', name: ben, role: 'viewer', as_admin: true },
    });
  });

  it('hears that it may', async () => {
    expect((await act('ListAllSandboxes', {})).body).toMatchObject({ may_read_inside: true });
  });

  it('finds what one owner has, and nothing of others', async () => {
    const found = async (owner?: string) =>
      ((await call('ListSandboxes', {}, API_KEY, owner)).body['sandboxes'] as { name: string }[]).map(
        ({ name }) => name,
      );
    expect([await found(ben), await found('red'), await found()]).toEqual([['box'], ['shared'], []]);
    expect(await readFile('shared', API_KEY, ben)).toMatchObject({ status: 404 });
    for (const owner of ['nobody', 'no@example.org', 'user_3', 'team_0000000000000000', '*', '%', ' ']) {
      expect(await readFile('box', API_KEY, owner), owner).toMatchObject({ status: 404 });
    }
  });

  it.each([
    ['WriteFile', { path: 'notes.txt', content: 'x' }],
    ['RunCommand', { command: 'cat notes.txt' }],
    ['RunCode', { code: 'print(1)' }],
    ['CreateSession', {}],
    ['GitStatus', { path: '/' }],
    ['CreateSshAccess', {}],
    ['GetPortPreviewUrl', { port: 80 }],
    ['StartSandbox', {}],
    ['StopSandbox', {}],
    ['DeleteSandbox', {}],
    ['SetSandboxLabels', { labels: {} }],
    ['CreateSandbox', { name: 'new' }],
  ])('is refused %s as a viewer is', async (tool, parameters) => {
    const refused = {
      ...{ status: 403 },
      body: {
        code: 'permission_denied',
        detail: 'A viewer changes nothing, runs nothing and opens no access.',
      },
    };
    const sandbox = tool === 'CreateSandbox' ? {} : { sandbox: 'box' };
    expect(await call(tool, { ...sandbox, ...parameters }, API_KEY, ben)).toMatchObject(refused);
    expect(http.begun).toEqual([]);
  });

  it('is refused actions, uploads, tunnels and terminals there', async () => {
    for (const name of [
      'RevokeAccess',
      'GetFilePreviewUrl',
      'EndTerminal',
      'StartProcess',
      'EndProcess',
      'DeleteSnapshot',
      'DeleteSession',
      'SetFileAttributes',
      'SetSandboxDeadline',
      'SetSandboxSleep',
      'PauseSandbox',
      'ResumeSandbox',
    ]) {
      const parameters = { sandbox: 'box', path: 'notes.txt', terminal: 'main', snapshot: 'mine' };
      expect(await act(name, parameters, API_KEY, ben), name).toMatchObject({ status: 403 });
    }
    const headers = { 'sandhaven-team': ben };
    const upload = { method: 'PUT', body: 'x', headers };
    expect((await http.fetch('/v1/sandboxes/box/files?path=a', upload)).status).toBe(403);
    for (const [path, protocol, naming] of [
      ['terminal?team=ben@example.org', 'websocket', ''],
      ['tunnel?port=80', 'tcp', `Sandhaven-Team: ${ben}\r\n`],
    ]) {
      const answer = await http.raw(
        `GET /v1/sandboxes/box/${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${API_KEY}\r\n` +
          `Connection: Upgrade\r\nUpgrade: ${protocol}\r\n${naming}` +
          'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
      );
      expect(answer, path).toMatch(/^HTTP\/1.1 403 /);
    }
  });

  it('acts as a member where there is a membership', async () => {
    await act('AddTeamMember', { team: 'red', user: 'ada@example.org' });
    expect(await call('StopSandbox', { sandbox: 'shared' }, API_KEY, 'red')).toMatchObject({ status: 200 });
  });

  it('leaves the owner’s account alone', async () => {
    const made = await act('CreateKey', { name: 'mine' }, API_KEY, ben);
    expect(made.body).toMatchObject({ email: 'ada@example.org', team_id: null });
    expect(await act('CreateKey', { name: 'x', team: 'red' }, API_KEY, 'red')).toMatchObject({ status: 404 });
    expect(await act('CreateKey', { name: 'x', team: ben }, API_KEY, ben)).toMatchObject({ status: 404 });
  });

  it('is noted, with the owner, who sees it', async () => {
    await readFile('box', API_KEY, ben);
    await readFile('shared', API_KEY, 'red');
    const read = { action: 'Sandbox.ReadFile', user_id: 'user_1', outcome: 'ok' };
    const rows = async (parameters: object, key: string) =>
      (await act('ListAudit', { action: 'Sandbox.ReadFile', ...parameters }, key)).body['rows'];
    const ofBen = [{ ...read, team_id: 'user_2', sandbox_id: own }];
    expect(await rows({ sandbox: own }, MEMBER_KEY)).toMatchObject(ofBen);
    expect(await rows({}, MEMBER_KEY)).toMatchObject(ofBen);
    expect(await rows({ user: ben }, API_KEY)).toMatchObject(ofBen);
    expect(await rows({ team: 'red' }, API_KEY)).toMatchObject([
      { ...read, team_id: expect.stringMatching(/^team_/) },
    ]);
  });

  it('is cut off once the role is another', async () => {
    await act('CreateUser', { name: 'Eve', email: 'eve@example.org', role: 'admin' });
    const stream = await follow(ben);
    const ownStream = await follow();
    await act('UpdateUser', { user: 'ada@example.org', role: 'member' });
    await expect(stream.text()).rejects.toThrow();
    expect(await readFile('box', API_KEY, ben)).toMatchObject(absent(ben));
    await http.stop();
    expect(await ownStream.text()).toContain('event: ready');
  });

  const follow = (owner?: string) =>
    http.fetch('/v1/events', owner === undefined ? {} : { headers: { 'sandhaven-team': owner } });
});

describe('nobody else', () => {
  beforeEach(() => start(true));

  it('reads inside: no member, and no viewer', async () => {
    for (const owner of ['ada@example.org', 'user_1', 'nobody']) {
      expect(await call('ListSandboxes', {}, MEMBER_KEY, owner), owner).toMatchObject(absent(owner));
    }
    await act('UpdateUser', { user: ben, role: 'viewer' });
    expect(await call('ListSandboxes', {}, MEMBER_KEY, 'user_1')).toMatchObject(absent('user_1'));
  });

  it('reads inside: no key of an admin without the scope, and none that is bound to a team', async () => {
    const made = async (parameters: object) =>
      String((await act('CreateKey', { name: 'more', ...parameters })).body['api_key']);
    const narrow = await made({ scopes: ['sandboxes:read', 'sandboxes:write'] });
    expect(await readFile('box', narrow, ben)).toMatchObject(absent(ben));
    await act('CreateTeam', { name: 'blue' });
    await act('AddTeamMember', { team: 'blue', user: 'ada@example.org' });
    const bound = await made({ team: 'blue' });
    expect(await readFile('box', bound, ben)).toMatchObject({ status: 403 });
    expect(await readFile('shared', bound, 'red')).toMatchObject({ status: 403 });
    expect(await call('ListSandboxes', {}, bound)).toMatchObject({ status: 200 });
    await act('RemoveTeamMember', { team: 'blue', user: 'ada@example.org' });
    expect(await call('ListSandboxes', {}, bound)).toMatchObject({ status: 404 });
  });
});

describe('the command line', () => {
  it('reads inside by --team, and by SANDHAVEN_TEAM', async () => {
    await start(true);
    const cli = cliFor(http.url);
    expect((await cli(['ls', '--team', ben])).stdout).toContain('box');
    const env = { SANDBOX_API_URL: http.url, SANDBOX_API_KEY: API_KEY, SANDHAVEN_TEAM: ben };
    const read = ['call', 'Sandbox.ReadFile', '--sandbox', 'box', '--path', 'notes.txt'];
    expect((await cli(read, { env })).stdout).toContain('four words');
    expect(await cli(['stop', 'box', '--team', ben])).toMatchObject({ code: 3 });
  });
});
