/** The administration actions over HTTP and on the command line: who may, what is refused, how it is shown. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { actions, commandGroups } from '../../src/administration/index.ts';
import { tools } from '../../src/catalog/index.ts';
import { cliFor } from './cli/cli-harness.ts';
import { API_KEY, MEMBER_KEY } from './fakes/fake-services.ts';
import { type Harness, startHttp } from './http/http-harness.ts';

let http: Harness;
let cli: ReturnType<typeof cliFor>;

beforeEach(async () => {
  http = await startHttp();
  cli = cliFor(http.url);
});

afterEach(() => http.close());

const carol = { name: 'Carol', email: 'carol@example.org' };

async function act(name: string, parameters: unknown, key = API_KEY) {
  const response = await fetch(`${http.url}/v1/admin/${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(parameters),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe('the list of actions', () => {
  it('names each once, with a command of its own, in a group that has a summary', () => {
    const names = actions.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const commands = actions.map(({ command }) => command);
    expect(new Set(commands).size).toBe(commands.length);
    expect(new Set(commands.map((command) => command.split(' ')[0]))).toEqual(
      new Set(Object.keys(commandGroups)),
    );
    for (const { argument, input } of actions) {
      if (argument !== undefined) expect(Object.keys(input.shape)).toContain(argument);
    }
  });

  it('shares no name with a tool, since both are operations of one description', () => {
    const taken = tools.map(({ name }) => name.split('.')[1]);
    expect(actions.map(({ name }) => name).filter((name) => taken.includes(name))).toEqual([]);
  });

  it('is served, with schemas, and described in OpenAPI', async () => {
    const { actions: listed } = (await (await http.fetch('/v1/admin')).json()) as {
      actions: Record<string, unknown>[];
    };
    expect(listed.map(({ name }) => name)).toEqual(actions.map(({ name }) => name));
    expect(listed.find(({ name }) => name === 'CreateUser')).toMatchObject({
      role: 'admin',
      input_schema: { required: ['name', 'email'] },
    });
    const { paths } = (await (await http.fetch('/openapi.json')).json()) as {
      paths: Record<string, unknown>;
    };
    for (const { name } of actions) expect(paths).toHaveProperty([`/v1/admin/${name}`, 'post']);
  });
});

describe('an action', () => {
  it('is carried out', async () => {
    const { status, body } = await act('CreateUser', { ...carol, role: 'admin' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ ...carol, role: 'admin', disabled: false });
    expect((await act('ListUsers', {})).body['users']).toContainEqual(body);
  });

  it('[WIRE-ERR-08] for admins is refused to a member before its parameters are looked at', async () => {
    for (const { name } of actions.filter(({ role }) => role === 'admin')) {
      const { status, body } = await act(name, { no: 'such' }, MEMBER_KEY);
      expect({ name, status, code: body['code'] }).toEqual({ name, status: 403, code: 'permission_denied' });
    }
    expect((await act('ListUsers', {})).body).toMatchObject({ total_count: 2 });
  });

  it('[WIRE-AUTH-03] needs a key', async () => {
    expect(await act('ListUsers', {}, 'wrong')).toMatchObject({ status: 401 });
    expect((await fetch(`${http.url}/v1/admin`)).status).toBe(401);
  });

  it.each([
    ['[WIRE-ARGS-01] an unknown parameter', { ...carol, nmae: 'x' }, 'nmae'],
    ['[WIRE-ARGS-05] a missing one', { name: 'Carol' }, 'email'],
    ['an email that is none', { ...carol, email: 'carol' }, 'email'],
    ['a name with a line break', { ...carol, name: 'Ca\nrol' }, 'name'],
    ['[WIRE-ARGS-03] a role that is none', { ...carol, role: 'owner' }, 'role'],
  ])('refuses %s', async (_what, parameters, parameter) => {
    const { status, body } = await act('CreateUser', parameters);
    expect({ status, code: body['code'], parameter: body['parameter'] }).toEqual({
      ...{ status: 400, code: 'invalid_argument', parameter },
    });
  });

  it('[WIRE-ERR-10] refuses an email that is taken', async () => {
    expect(await act('CreateUser', { ...carol, email: 'ADA@example.org' })).toMatchObject({ status: 409 });
  });

  it('is not found when it does not exist, with the nearest name', async () => {
    const { body } = await act('CreateUsr', {});
    expect(body).toMatchObject({ code: 'not_found', resource: 'action', hint: 'Did you mean CreateUser?' });
  });

  it('is no tool, on no transport', async () => {
    expect(await (await http.call('CreateUser', carol)).json()).toMatchObject({ code: 'not_found' });
    expect(await cli(['call', 'CreateUser'])).toMatchObject({ code: 4 });
  });

  it('shows a member only themselves', async () => {
    expect(await act('ListUsers', {}, MEMBER_KEY)).toMatchObject({
      body: { users: [{ name: 'Ben', role: 'member' }], total_count: 1 },
    });
  });
});

describe('on the command line', () => {
  it('deletes a snapshot', async () => {
    await http.call('Sandbox.CreateSnapshot', { name: 'mine', image: 'debian:13' });
    expect(await cli(['snapshots', 'rm', 'mine'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/name +mine/),
    });
    expect(await cli(['snapshots', 'rm', 'mine'])).toMatchObject({ code: 4 });
    expect(await cli(['snapshots', 'rm'])).toMatchObject({ code: 2 });
  });

  it('revokes access, of both kinds or of one', async () => {
    const revoke = async (...argv: string[]) =>
      JSON.parse((await cli(['access', 'revoke', ...argv, '--json'])).stdout);
    const both = { sandbox: 'box', ssh: 2, previews: 3, revoked: true };
    expect(await revoke('box')).toEqual(both);
    expect(await revoke('box', '--kind', 'preview')).toEqual({ ...both, ssh: 0 });
    expect(await cli(['access', 'revoke', 'box', '--kind', 'git'])).toMatchObject({ code: 2 });
    expect(await cli(['access', 'revoke'])).toMatchObject({ code: 2 });
  });

  it('makes and lists users, the verb `list` left out or not', async () => {
    const created = await cli(['users', 'create', '--name', 'Carol', '--email', carol.email]);
    expect(created).toMatchObject({ code: 0, stdout: expect.stringContaining('carol@example.org') });
    const listed = await cli(['users']);
    expect(listed.stdout).toMatch(/^USER +NAME +EMAIL +ROLE +STATE/);
    expect(listed.stdout).toMatch(/Carol +carol@example\.org +member +enabled/);
    expect(await cli(['users', 'list'])).toEqual(listed);
    expect(JSON.parse((await cli(['users', '--json', '--page-size', '1'])).stdout)).toMatchObject({
      users: [{ name: 'Ada' }],
      total_count: 3,
    });
  });

  it('has help of each group and of each command, without a service', async () => {
    for (const group of Object.keys(commandGroups)) {
      const { code, stdout } = await cli([group, '--help'], { env: {} });
      expect({ code, usage: stdout.split(' …')[0] }).toEqual({ code: 0, usage: `Usage: sandhaven ${group}` });
    }
    for (const { command } of actions) {
      const { code, stdout } = await cli([...command.split(' '), '--help'], { env: {} });
      expect(code, command).toBe(0);
      expect(stdout).toMatch(new RegExp(`^Usage: sandhaven ${command}`));
    }
  });

  it('shows the error, with the exit status of its code', async () => {
    expect(await cli(['users', 'craete'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Did you mean `sandhaven users create`?'),
    });
    expect(await cli(['users', 'create', '--nmae', 'x'])).toMatchObject({ code: 2 });
    const env = { SANDBOX_API_URL: `${http.url}`, SANDBOX_API_KEY: MEMBER_KEY };
    const argv = ['users', 'create', '--name', 'x', '--email', 'x@y', '--json'];
    const { code, stderr } = await cli(argv, { env });
    expect(code).toBe(3);
    expect(JSON.parse(stderr)).toMatchObject({ code: 'permission_denied' });
  });
});
