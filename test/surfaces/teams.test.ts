/** Teams over HTTP and on the command line: acting for one, bound keys, and what is noted of it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cliFor } from './cli/cli-harness.ts';
import { API_KEY, MEMBER_KEY } from './fakes/fake-services.ts';
import { type Harness, startHttp } from './http/http-harness.ts';

let http: Harness;

beforeEach(async () => {
  http = await startHttp();
  for (const name of ['red', 'blue']) await act('CreateTeam', { name });
  await act('AddTeamMember', { team: 'red', user: ben });
});

afterEach(() => http.close());

const ben = 'ben@example.org';

async function post(path: string, parameters: unknown, key: string, team?: string) {
  const response = await fetch(`${http.url}${path}`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(team === undefined ? {} : { 'Sandhaven-Team': team }),
    },
    body: JSON.stringify(parameters),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const act = (name: string, parameters: unknown, key = API_KEY, team?: string) =>
  post(`/v1/admin/${name}`, parameters, key, team);
const call = (name: string, parameters: unknown, key = MEMBER_KEY, team?: string) =>
  post(`/v1/tools/Sandbox.${name}`, parameters, key, team);

async function names(key: string, team?: string): Promise<unknown[]> {
  const { sandboxes } = (await call('ListSandboxes', {}, key, team)).body as {
    sandboxes: { name: string }[];
  };
  return sandboxes.map(({ name }) => name);
}

describe('a team', () => {
  it('owns what its members create for it', async () => {
    await call('CreateSandbox', { name: 'shared' }, MEMBER_KEY, 'red');
    await call('CreateSandbox', { name: 'own' });
    expect(await names(MEMBER_KEY, 'RED')).toEqual(['shared']);
    expect(await names(MEMBER_KEY)).toEqual(['own']);
  });

  it('is one that is not there for all who are not in it, admins included', async () => {
    for (const [key, team] of [
      [MEMBER_KEY, 'blue'],
      [MEMBER_KEY, 'none'],
      [API_KEY, 'red'],
    ] as const) {
      expect(await call('ListSandboxes', {}, key, team)).toMatchObject({
        status: 404,
        body: { code: 'not_found', resource: 'team', detail: `You are in no team '${team}'.` },
      });
    }
  });

  it('is shown by WhoAmI to who acts for it, beside the user', async () => {
    expect((await call('WhoAmI', {}, MEMBER_KEY, 'red')).body).toMatchObject({
      ...{ user_id: 'user_2', email: ben },
      team: { name: 'red', role: 'member' },
    });
    expect((await call('WhoAmI', {})).body).not.toHaveProperty('team');
  });

  it('is noted in the audit log, with the member who acted', async () => {
    await call('CreateSandbox', { name: 'shared' }, MEMBER_KEY, 'red');
    const { rows } = (await act('ListAudit', { user: ben })).body as { rows: Record<string, unknown>[] };
    const { team_id } = (await act('UpdateTeam', { team: 'red', quota_cpu: 4 })).body;
    expect(rows.at(-1)).toMatchObject({ action: 'Sandbox.CreateSandbox', user_id: 'user_2', team_id });
  });

  it('lets its viewers read, and nothing else', async () => {
    await call('CreateSandbox', { name: 'shared' }, MEMBER_KEY, 'red');
    await act('AddTeamMember', { team: 'red', user: ben, role: 'viewer' });
    expect(await names(MEMBER_KEY, 'red')).toEqual(['shared']);
    const refused = { status: 403, body: { code: 'permission_denied' } };
    expect(await call('StopSandbox', { sandbox: 'shared' }, MEMBER_KEY, 'red')).toMatchObject(refused);
    expect(await call('GitLog', { path: '/' }, MEMBER_KEY, 'red')).toMatchObject(refused);
    expect(await call('CreateSandbox', { name: 'own' })).toMatchObject({ status: 200 });
  });

  it('has names that a header carries, and that look like no id', async () => {
    for (const name of ['', 'two words', 'rouge-é', 'team_0123456789abcdef', '-x', 'a'.repeat(64)]) {
      expect(await act('CreateTeam', { name }), name).toMatchObject({ status: 400 });
    }
    expect(await act('CreateTeam', { name: 'Red' })).toMatchObject({ status: 409 });
  });

  it('is changed by admins alone', async () => {
    for (const [name, parameters] of [
      ['CreateTeam', { name: 'mine' }],
      ['UpdateTeam', { team: 'red', quota_cpu: -1 }],
      ['DeleteTeam', { team: 'red' }],
      ['AddTeamMember', { team: 'blue', user: ben }],
      ['RemoveTeamMember', { team: 'red', user: ben }],
    ] as const) {
      expect(await act(name, parameters, MEMBER_KEY, 'red'), name).toMatchObject({ status: 403 });
    }
    const { teams } = (await act('ListTeams', {}, MEMBER_KEY)).body as { teams: unknown[] };
    expect(teams).toMatchObject([{ name: 'red', members: [{ email: ben, role: 'member' }] }]);
  });
});

describe('a key that is bound to a team', () => {
  const bound = async (more: object = {}) => {
    const made = await act('CreateKey', { name: 'agent', team: 'red', ...more }, MEMBER_KEY);
    return String(made.body['api_key']);
  };

  it('acts for it without a header, and does nothing else', async () => {
    const key = await bound();
    await call('CreateSandbox', { name: 'shared' }, key);
    expect(await names(MEMBER_KEY, 'red')).toEqual(['shared']);
    for (const name of ['CreateKey', 'ListKeys', 'ListTeams', 'CreateSignInLink', 'ListAudit']) {
      expect(await act(name, { name: 'more' }, key), name).toMatchObject({ status: 403 });
    }
    expect(await call('ListSandboxes', {}, key, 'blue')).toMatchObject({ status: 403 });
  });

  it('signs no browser in', async () => {
    const response = await fetch(`${http.url}/v1/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: http.url, 'sec-fetch-site': 'same-origin' },
      body: JSON.stringify({ api_key: await bound() }),
    });
    expect(response.status).not.toBe(200);
    expect(response.headers.get('set-cookie')).toBeNull();
  });

  it('is made for a team that its owner is in', async () => {
    expect(await act('CreateKey', { name: 'x', team: 'blue' }, MEMBER_KEY)).toMatchObject({ status: 404 });
    expect(await act('CreateKey', { name: 'x', team: 'red' })).toMatchObject({ status: 404 });
    const eve = 'eve@example.org';
    await act('CreateUser', { name: 'Eve', email: eve });
    expect(await act('CreateKey', { name: 'x', team: 'red', user: eve })).toMatchObject({ status: 404 });
    await act('AddTeamMember', { team: 'red', user: eve });
    expect(await act('CreateKey', { name: 'x', team: 'red', user: eve })).toMatchObject({ status: 200 });
  });

  it('opens nothing once its owner is out of the team', async () => {
    const key = await bound();
    await act('RemoveTeamMember', { team: 'red', user: ben });
    expect(await call('ListSandboxes', {}, key)).toMatchObject({ status: 404 });
    expect(await call('ListSandboxes', {}, MEMBER_KEY)).toMatchObject({ status: 200 });
  });
});

describe('a viewer of a team', () => {
  const make = (parameters: object, key: string) =>
    act('CreateKey', { name: 'more', ...parameters }, key, 'red');
  beforeEach(() => act('AddTeamMember', { team: 'red', user: ben, role: 'viewer' }));

  it('makes keys for what is their own, as without the team', async () => {
    const { status, body } = await make({}, MEMBER_KEY);
    expect(status).toBe(200);
    expect(await call('CreateSandbox', { name: 'own' }, String(body['api_key']))).toMatchObject({
      status: 200,
    });
  });

  it('gets no more by a key with less than its owner has', async () => {
    // As if the role alone kept the others back.
    const scopes = ['sandboxes:read', 'documents:read', 'account'];
    const made = await act('CreateKey', { name: 'less', scopes }, MEMBER_KEY);
    const less = String(made.body['api_key']);
    const refused = { status: 403, body: { code: 'permission_denied' } };
    expect(await make({}, less)).toMatchObject(refused);
    expect(await make({ scopes: ['sandboxes:write'] }, less)).toMatchObject(refused);
    expect(await act('CreateSignInLink', {}, less, 'red')).toMatchObject(refused);
    expect(await make({ scopes: ['sandboxes:read'] }, less)).toMatchObject({ status: 200 });
  });
});

describe('a member who is removed', () => {
  it('loses the call in progress', async () => {
    await call('CreateSandbox', { name: 'shared' }, MEMBER_KEY, 'red');
    const running = call('RunCommand', { sandbox: 'shared', command: 'sleep 20' }, MEMBER_KEY, 'red').then(
      () => 'answered',
      () => 'cut',
    );
    await expect.poll(() => http.begun).toEqual(['sleep 20']);
    await act('RemoveTeamMember', { team: 'red', user: ben });
    expect(await running).toBe('cut');
    expect(new Set(http.revoked).size).toBe(1);
  });

  it('is cut off from the stream of changes', async () => {
    const stream = await fetch(`${http.url}/v1/events`, {
      headers: { authorization: `Bearer ${MEMBER_KEY}`, 'sandhaven-team': 'red' },
    });
    expect(stream.status).toBe(200);
    await act('RemoveTeamMember', { team: 'red', user: ben });
    await expect(stream.text()).rejects.toThrow();
  });
});

describe('the command line', () => {
  const env = (team?: string) => ({
    ...{ SANDBOX_API_URL: http.url, SANDBOX_API_KEY: MEMBER_KEY },
    ...(team === undefined ? {} : { SANDHAVEN_TEAM: team }),
  });

  it('acts for the team of --team, before or after the command, and of SANDHAVEN_TEAM', async () => {
    const cli = cliFor(http.url);
    await cli(['create', '--name', 'shared', '--team', 'red'], { env: env() });
    expect((await cli(['ls'], { env: env() })).stdout).not.toContain('shared');
    expect((await cli(['--team', 'red', 'ls'], { env: env() })).stdout).toContain('shared');
    expect((await cli(['ls'], { env: env('red') })).stdout).toContain('shared');
    expect(await cli(['ls', '--team', 'blue'], { env: env('red') })).toMatchObject({ code: 4 });
    expect(await cli(['ls', '--team', 'no\nheader'], { env: env() })).toMatchObject({ code: 2 });
  });

  it('takes --team as the parameter where an action has one', async () => {
    const words = ['keys', 'create', 'agent', '--team', 'red', '--json'];
    const made = await cliFor(http.url)(words, { env: env() });
    expect(JSON.parse(made.stdout)).toMatchObject({ email: ben, team_id: expect.stringMatching(/^team_/) });
  });

  it('lists teams, and changes them', async () => {
    const cli = cliFor(http.url);
    expect((await cli(['teams'])).stdout).toContain(ben);
    expect(await cli(['teams', 'add', 'blue', '--user', ben, '--role', 'viewer'])).toMatchObject({ code: 0 });
    expect(await cli(['teams', 'delete', 'blue'])).toMatchObject({ code: 0 });
    expect((await cli(['teams'])).stdout).not.toContain('blue');
  });
});
