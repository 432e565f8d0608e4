/** Networks of sandboxes over HTTP, on the command line and by the SDK. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Sandhaven } from '../../sdk/src/index.ts';
import { cliFor } from './cli/cli-harness.ts';
import { API_KEY, MEMBER_KEY } from './fakes/fake-services.ts';
import { type Harness, startHttp } from './http/http-harness.ts';

let http: Harness;
let cli: ReturnType<typeof cliFor>;

beforeAll(async () => {
  http = await startHttp();
  cli = cliFor(http.url);
});

afterAll(() => http.close());

beforeEach(() => http.sandboxes.clear());

async function post(path: string, parameters: unknown) {
  const response = await fetch(`${http.url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(parameters),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const create = (parameters: object = {}) =>
  post('tools/Sandbox.CreateSandbox', { name: 'box', ...parameters });
const act = (name: string, parameters: object = {}) =>
  post(`admin/${name}`, { sandbox: 'box', ...parameters });

describe('over HTTP', () => {
  it('a creation takes a network, and a sandbox shows it, alone and not in lists', async () => {
    const network = { mode: 'rules', profiles: ['git'], allow: ['https://a.example.com'] };
    const request = { allow: ['HTTPS://A.example.com:443'], profiles: ['git'] };
    expect((await create({ network: request })).body).toMatchObject({ network });
    expect((await post('tools/Sandbox.GetSandbox', { sandbox: 'box' })).body).toMatchObject({ network });
    const { sandboxes } = (await post('tools/Sandbox.ListSandboxes', {})).body as { sandboxes: object[] };
    expect(sandboxes).toHaveLength(1);
    expect(sandboxes[0]).not.toHaveProperty('network');
    expect((await post('tools/Sandbox.StopSandbox', { sandbox: 'box' })).body).not.toHaveProperty('network');
  });

  it('one without it is open', async () => {
    expect((await create()).body).toMatchObject({ network: { mode: 'open', profiles: [], allow: [] } });
    expect((await create({ name: 'null', network: null })).body).toMatchObject({ network: { mode: 'open' } });
  });

  it.each([
    [{ network: 'closed' }, 'network', 'network must be open, none or a JSON object; "closed" was given.'],
    [{ network: ['open'] }, 'network', 'network must be open, none or a JSON object; an array was given.'],
    [{ network: { deny: ['x'] } }, 'network.deny', 'network has an unknown key, "deny".'],
    [{ network: { allow: 'x' } }, 'network.allow', 'network.allow must be a JSON array; "x" was given.'],
    [{ network: { allow: ['a.b', 7] } }, 'network.allow', 'network.allow[1] must be a string; 7 was given.'],
    [
      { network: { allow: ['a.b'], profiles: Array(21).fill('git') } },
      'network.profiles',
      'network.profiles must be at most 20 items long.',
    ],
    [
      { network: { allow: ['gopher://a.b'] } },
      'network.allow',
      expect.stringContaining("'gopher://a.b' is no network rule"),
    ],
  ])('%j is refused in words', async (parameters, parameter, detail) => {
    expect(await create(parameters)).toMatchObject({ status: 400, body: { parameter, detail } });
    expect(http.sandboxes.size).toBe(0);
  });

  it('an allowance of null is one that is left out', async () => {
    expect((await create({ network: { allow: null, profiles: ['llm'] } })).body).toMatchObject({
      network: { mode: 'rules', profiles: ['llm'], allow: [] },
    });
  });

  it('actions read it and change it, within the ceiling', async () => {
    const { id } = (await create()).body;
    const none = { mode: 'none', profiles: [], allow: [] };
    expect((await act('SetNetwork', { network: 'none' })).body).toEqual({
      ...{ sandbox: id, network: none, in_force: { mode: 'none', rules: [] }, learning_until: null },
      traffic: null,
    });
    const rules = ['llm', 'https://a.example.com', 'https://a.example.org'];
    const allowed = await act('AllowNetwork', { rules });
    expect(allowed.body).toEqual({
      sandbox: id,
      network: { mode: 'rules', profiles: ['llm'], allow: rules.slice(1) },
      in_force: { mode: 'rules', rules: ['https://a.example.com'] },
      learning_until: null,
      traffic: null,
    });
    expect(await act('GetNetwork')).toEqual(allowed);
    expect((await act('DenyNetwork', { rules: ['llm', 'https://a.example.com'] })).body).toMatchObject({
      network: { profiles: [], allow: ['https://a.example.org'] },
      in_force: { mode: 'rules', rules: [] },
    });
  });

  it('an open network needs no allowance, and says so', async () => {
    await create();
    expect(await act('AllowNetwork', { rules: ['git'] })).toMatchObject({
      ...{ status: 412, body: { code: 'failed_precondition', parameter: 'rules' } },
    });
    expect(await act('AllowNetwork', { rules: [] })).toMatchObject({ status: 400 });
  });

  it('a snapshot has one of its own, which it shows while it has', async () => {
    const made = (await post('tools/Sandbox.CreateSnapshot', { name: 'tools', image: 'debian:13' })).body;
    expect(made).not.toHaveProperty('network');
    const network = { mode: 'rules', profiles: ['git'], allow: [] };
    const setTo = (to: unknown) => post('admin/SetSnapshotNetwork', { snapshot: 'tools', network: to });
    expect((await setTo({ profiles: ['git'] })).body).toEqual({
      snapshot: made['id'],
      name: 'tools',
      network,
    });
    const shown = async () => (await post('tools/Sandbox.GetSnapshot', { snapshot: 'tools' })).body;
    expect(await shown()).toMatchObject({ network });
    expect((await setTo('default')).body).toMatchObject({ network: null });
    expect(await shown()).not.toHaveProperty('network');
    expect(await setTo('closed')).toMatchObject({ status: 400, body: { parameter: 'network' } });
    expect(await setTo(null)).toMatchObject({ status: 400, body: { detail: 'network is required.' } });
  });

  it('an admin sets the default and the ceiling of a user and of a team, and lists show them', async () => {
    await post('admin/CreateTeam', { name: 'red' });
    const most = { mode: 'rules', profiles: [], allow: ['https://a.example.com', 'https://a.example.org'] };
    const none = { mode: 'none', profiles: [], allow: [] };
    const unset = { default: null, most: null };
    const inForce = { mode: 'rules', rules: ['https://a.example.com'] };
    const given = { default_network: 'none', most_network: { allow: most.allow } };
    for (const [action, owner] of [
      ['SetUserNetwork', { user: 'ben@example.org' }],
      ['SetTeamNetwork', { team: 'red' }],
    ] as const) {
      const changed = { default: none, most, in_force: inForce };
      expect((await post(`admin/${action}`, { ...owner, ...given })).body).toMatchObject(changed);
      expect((await post(`admin/${action}`, { ...owner, default_network: 'default' })).body).toMatchObject({
        ...{ default: null, most, in_force: inForce },
      });
    }
    const { users } = (await post('admin/ListUsers', {})).body as { users: object[] };
    expect(users).toMatchObject([{ networks: unset }, { networks: { default: null, most } }]);
    const { teams } = (await post('admin/ListTeams', {})).body as { teams: object[] };
    expect(teams).toMatchObject([{ networks: { default: null, most } }]);
    expect(await post('admin/SetUserNetwork', { user: 'nobody' })).toMatchObject({ status: 404 });
    const closed = { user: 'ben@example.org', most_network: 'closed' };
    expect(await post('admin/SetUserNetwork', closed)).toMatchObject({
      ...{ status: 400, body: { parameter: 'most_network' } },
    });
  });

  it('a member sets no ceiling', async () => {
    const response = await fetch(`${http.url}/v1/admin/SetUserNetwork`, {
      method: 'POST',
      headers: { authorization: `Bearer ${MEMBER_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ user: 'ben@example.org', most_network: 'open' }),
    });
    expect(response.status).toBe(403);
  });

  it('profiles are listed with their rules', async () => {
    const { profiles } = (await post('admin/ListNetworkProfiles', {})).body as {
      profiles: { name: string }[];
    };
    expect(profiles.map(({ name }) => name)).toEqual(['packages', 'git', 'llm']);
    expect(profiles[1]).toMatchObject({ rules: expect.arrayContaining(['tcp://github.com:22']) });
  });
});

describe('on the command line', () => {
  it('a creation takes a word, or JSON', async () => {
    expect(await cli(['create', '--name', 'a', '--network', 'none'])).toMatchObject({ code: 0 });
    await cli(['create', '--name', 'b', '--network', '{"allow":["example.com"]}']);
    const found = [...http.sandboxes.values()].map(({ name, network }) => [
      name,
      network.mode,
      network.allow,
    ]);
    expect(found).toEqual([
      ['a', 'none', []],
      ['b', 'rules', ['example.com']],
    ]);
    const { code, stderr } = await cli(['create', '--network', 'closed']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('must be open, none or a JSON object')]);
    expect((await cli(['create', '--help'])).stdout).toContain('--network open|none|JSON');
  });

  it('a run takes the same', async () => {
    const created: unknown[] = [];
    const { set } = http.sandboxes;
    http.sandboxes.set = (id, sandbox) => {
      created.push([sandbox.network.mode, sandbox.network.profiles]);
      return set.call(http.sandboxes, id, sandbox);
    };
    await cli(['run', '--network', 'none', '1']);
    await cli(['run', '--network', '{"profiles":["git"]}', '--', 'true']);
    http.sandboxes.set = set;
    expect(created).toEqual([
      ['none', []],
      ['rules', ['git']],
    ]);
    expect(await cli(['run', '--network', 'closed', '1'])).toMatchObject({ code: 2 });
  });

  it('it is set, widened, narrowed and shown', async () => {
    await create();
    const run = async (...words: string[]) => (await cli(['network', ...words])).stdout;
    expect(await run('get', 'box')).toMatch(/open +all that is public +within the ceiling/);
    expect(await run('set', 'box', 'none')).toMatch(/none +nothing +yes/);
    const shown = await run('allow', 'box', 'git', 'https://a.example.com', 'https://a.example.org');
    expect(shown).toMatch(/rules +git +yes/);
    expect(shown).toMatch(/rules +https:\/\/a\.example\.com +yes/);
    expect(shown).toMatch(/rules +https:\/\/a\.example\.org +within the ceiling/);
    expect(await run('deny', 'box', 'git', 'https://a.example.org')).not.toMatch(/git|\.org/);
    expect(await run('set', 'box', '{"profiles":["git"]}')).toMatch(/rules +git +yes/);
    expect(JSON.parse(await run('get', 'box', '--json'))).toMatchObject({ network: { profiles: ['git'] } });
    expect(await run('profiles')).toContain('tcp://github.com:22');
  });

  it('those of snapshots, users and teams are set, shown and taken back', async () => {
    await post('tools/Sandbox.CreateSnapshot', { name: 'slim', image: 'debian:13' });
    await post('admin/CreateTeam', { name: 'blue' });
    const run = async (...words: string[]) => (await cli(words)).stdout;
    expect(await run('network', 'snapshot', 'slim', '{"profiles":["git"]}')).toMatch(/rules +git/);
    expect(await run('snapshot', 'inspect', 'slim')).toContain('"git"');
    expect(await run('network', 'snapshot', 'slim', 'default')).toMatch(/default +its owner's/);
    for (const [family, owner] of [
      ['users', 'ben@example.org'],
      ['teams', 'blue'],
    ] as const) {
      const rows = await run(family, 'network', owner, '--most-network', 'none', '--default-network', 'open');
      expect(rows).toMatch(/default +open +all that is public/);
      expect(rows).toMatch(/most +none +nothing/);
      const shown = await run(family, 'network', owner, '--most-network', 'default');
      expect(shown).toMatch(/most +default +the installation's/);
      expect(await run(family, 'network', owner)).toBe(shown);
    }
  });

  it('what is wrong is said in words', async () => {
    await create();
    const refused = async (...words: string[]) => (await cli(['network', ...words])).stderr;
    expect(await refused('set', 'box', 'none', 'open')).toContain('network was given 2 times');
    expect(await refused('allow', 'box')).toContain('rules is required');
    expect(await refused('deny', 'box', 'git')).toContain("no rule or profile 'git'");
    expect(await refused('get', 'nobody')).toContain("There is no sandbox 'nobody'");
    expect(await refused('alow', 'box', 'git')).toContain('sandhaven network allow');
    expect((await cli(['network', 'allow', '--help'])).stdout).toContain(
      'Usage: sandhaven network allow [SANDBOX] [RULES]',
    );
  });
});

it('the SDK takes it at a creation, and calls the actions', async () => {
  const client = new Sandhaven({ url: http.url, apiKey: API_KEY });
  const created = await client.createSandbox({ name: 'box', network: { profiles: ['git'] } });
  expect(created.network).toEqual({ mode: 'rules', profiles: ['git'], allow: [] });
  await client.administration.call('SetNetwork', { sandbox: 'box', network: 'none' });
  expect((await client.getSandbox({ sandbox: 'box' })).network?.mode).toBe('none');
});
