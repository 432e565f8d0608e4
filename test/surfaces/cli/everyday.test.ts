/** Everyday verbs of sandboxes and snapshots, against a real HTTP server over fake services. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Harness, startHttp } from '../http/http-harness.ts';
import { cliFor } from './cli-harness.ts';

let http: Harness;
let cli: ReturnType<typeof cliFor>;

beforeAll(async () => {
  http = await startHttp();
  cli = cliFor(http.url);
});

afterAll(() => http.close());

beforeEach(() => {
  http.sandboxes.clear();
  http.completed.length = 0;
});

describe('help', () => {
  it.each([
    'create',
    'exec',
    'cp',
    'logs',
    'start',
    'stop',
    'fork',
    'inspect',
    'snapshot',
    'snapshot create',
    'snapshot ls',
    'snapshot inspect',
    'snapshot rm',
  ])('%s has it, without a service', async (name) => {
    for (const flag of ['--help', '-h']) {
      const { code, stdout, stderr } = await cli([...name.split(' '), flag], { env: {} });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(new RegExp(`^Usage: sandhaven ${name}`));
    }
  });

  it('shows the parameters of the catalogue', async () => {
    const { stdout } = await cli(['create', '--help']);
    for (const flag of ['--name TEXT', '--language python|typescript|javascript', '--memory-gb INTEGER'])
      expect(stdout).toContain(flag);
    expect((await cli(['exec', '--help'])).stdout).toContain('--timeout INTEGER');
  });
});

describe('create', () => {
  it('prints name and ID', async () => {
    const { code, stdout } = await cli(['create', '--name', 'my box', '--cpu', '1', '--labels', 'a=b']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^my box {2}sb_\w+\n$/);
    const [made] = http.sandboxes.values();
    expect(made).toMatchObject({ name: 'my box', labels: { a: 'b' }, resources: { cpu: 1 } });
  });

  it('prints the plain result with --json', async () => {
    const { stdout } = await cli(['create', '--name', 'demo', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ name: 'demo', state: 'started' });
  });

  it('takes the Linux user of all calls', async () => {
    await cli(['create', '--name', 'short', '-u', 'ann']);
    await cli(['create', '--name', 'long', '--user', '1000']);
    expect([...http.sandboxes.values()].map(({ user }) => user)).toEqual(['ann', '1000']);
  });

  it('refuses what the tool refuses, and names the nearest flag', async () => {
    expect((await cli(['create', '--memroy-gb', '2'])).stderr).toContain('memory_gb');
    expect((await cli(['create', '--cpu', '999'])).code).toBe(2);
    expect((await cli(['create', 'demo'])).code).toBe(2);
    expect(http.sandboxes.size).toBe(0);
  });
});

describe('exec', () => {
  beforeEach(() => void http.call('Sandbox.CreateSandbox', { name: 'demo' }));

  it('prints the output, and exits with the status of the command', async () => {
    expect(await cli(['exec', 'demo', '--', 'echo', 'a b'])).toEqual({
      code: 0,
      stdout: "'a b'\n",
      stderr: '',
    });
    expect(http.completed).toContain("echo 'a b'");
    expect((await cli(['exec', 'demo', '--', 'exit 7'])).code).toBe(7);
    const { code, stdout } = await cli(['exec', 'demo', '--json', '--', 'exit 7']);
    expect(code).toBe(7);
    expect(JSON.parse(stdout)).toMatchObject({ exit_code: 7 });
  });

  it('takes flags before --, and none after it', async () => {
    const argv = ['exec', '--cwd', '/tmp', '--env', 'A=1', '--env', 'B=2', '--timeout', '5', 'demo'];
    expect((await cli([...argv, '--', 'true', '--timeout', '9'])).code).toBe(0);
    expect(http.completed).toContain('true --timeout 9');
    expect((await cli(['exec', '--timeout', '601', 'demo', '--', 'true'])).stderr).toContain(
      'timeout_seconds',
    );
  });

  it('runs it in the name of a Linux user', async () => {
    await cli(['exec', '-u', 'ann', 'demo', '--', 'id', '-u']);
    await cli(['exec', 'demo', '--user', '1000', '--', 'true']);
    expect(http.users.slice(-2)).toEqual(['ann', '1000']);
    expect(http.completed).toContain('id -u');
    const { code, stderr } = await cli(['exec', '-u', 'Ann', 'demo', '--', 'true']);
    expect(code).toBe(2);
    expect(stderr).toContain('user must be a name in small letters, such as ann, or a number up to 65535');
  });

  it.each([
    [['exec'], 'Give it after --'],
    [['exec', 'demo'], 'Give it after --'],
    [['exec', 'demo', 'ls', '-l'], 'Give it after --'],
    [['exec', '--', 'ls'], 'No sandbox is named.'],
    [['exec', 'demo', 'other', '--', 'ls'], "'other' stands before --."],
    [['exec', '--cdw', '/', 'demo', '--', 'ls'], 'cwd'],
  ])('refuses %j with the next step', async (argv, said) => {
    const { code, stderr } = await cli(argv);
    expect(code).toBe(2);
    expect(stderr).toContain(said);
  });
});

describe('start, stop and inspect', () => {
  beforeEach(async () => {
    await http.call('Sandbox.CreateSandbox', { name: 'a' });
    await http.call('Sandbox.CreateSandbox', { name: 'b' });
  });

  it('report each, and exit with 1 when one of several failed', async () => {
    for (const [verb = '', state] of [
      ['stop', 'stopped'],
      ['start', 'started'],
      ['inspect', 'started'],
    ]) {
      const { code, stdout, stderr } = await cli([verb, 'a', 'none', 'b', '--json']);
      expect(code).toBe(1);
      const shown = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(shown.map(({ name, state }) => [name, state])).toEqual([
        ['a', state],
        ['b', state],
      ]);
      expect(JSON.parse(stderr)).toMatchObject({ code: 'not_found' });
    }
  });

  it('exit with the status of its problem where one is named', async () => {
    for (const verb of ['start', 'stop', 'inspect']) {
      expect(await cli([verb, 'none'])).toMatchObject({ code: 4, stdout: '' });
      expect((await cli([verb])).stderr).toContain('`sandhaven ls` lists them.');
    }
  });

  it('print for people otherwise', async () => {
    expect((await cli(['stop', 'a'])).stdout).toMatch(/^Sandbox 'a' \(sb_\w+\) is stopped/);
    expect((await cli(['inspect', 'a'])).stdout).toMatch(/^name +a$/m);
  });
});

describe('fork', () => {
  beforeEach(() => void http.call('Sandbox.CreateSandbox', { name: 'demo', labels: { a: 'b' } }));

  it('prints name and ID of each', async () => {
    const { code, stdout, stderr } = await cli(['fork', 'demo', '--count', '2', '--name', 'way']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^way-1 {2}sb_\w+\nway-2 {2}sb_\w+\n$/);
    expect([...http.sandboxes.values()].map(({ labels }) => labels)).toEqual([
      { a: 'b' },
      { a: 'b' },
      { a: 'b' },
    ]);
    expect((await cli(['fork', '--name=one', 'demo'])).stdout).toMatch(/^one {2}sb_\w+\n$/);
  });

  it('reports those that did not start, and exits with 1', async () => {
    await http.call('Sandbox.CreateSandbox', { name: 'way-2' });
    const { code, stdout, stderr } = await cli(['fork', 'demo', '--count', '3', '--name', 'way']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^way-1 {2}sb_\w+\nway-3 {2}sb_\w+\n$/);
    expect(stderr).toBe("A fork did not start (already_exists): The name 'way-2' is taken.\n");
    const asJson = await cli(['fork', 'demo', '--name', 'way-2', '--json']);
    expect([asJson.code, asJson.stderr]).toEqual([1, '']);
    expect(JSON.parse(asJson.stdout)).toEqual({
      sandboxes: [],
      failed: [{ code: 'already_exists', detail: "The name 'way-2' is taken." }],
    });
  });

  it('needs the name of one sandbox', async () => {
    expect((await cli(['fork'])).stderr).toContain('No sandbox is named.\nHint: `sandhaven ls` lists them.');
    expect(await cli(['fork', 'demo', 'other'])).toMatchObject({ code: 2, stdout: '' });
    expect(await cli(['fork', 'none'])).toMatchObject({ code: 4, stdout: '' });
    expect(await cli(['fork', 'demo', '--count', '101'])).toMatchObject({ code: 2, stdout: '' });
    expect((await cli(['fork', 'demo', '--cuont', '2'])).stderr).toContain('count');
    expect(http.sandboxes.size).toBe(1);
  });
});

describe('snapshot', () => {
  it('is taken of a sandbox', async () => {
    await http.call('Sandbox.CreateSandbox', { name: 'my box', image: 'debian:13' });
    expect((await cli(['snapshot', 'create', '--from', 'my box', '--name', 'point'])).stdout).toMatch(
      /^point {2}snap_\w+\n$/,
    );
    const unnamed = await cli(['snapshot', 'create', '--from=my box', '--json']);
    expect(JSON.parse(unnamed.stdout)).toMatchObject({
      name: 'my box-a1b2c3',
      state: 'active',
      source: { name: 'my box' },
    });
    const { stdout } = await cli(['snapshot', 'ls']);
    expect(stdout).toMatch(/^NAME +ID +STATE +SOURCE +SIZE +CREATED$/m);
    expect(stdout).toMatch(/^point +snap_\w+ +active +sandbox my box +90\.0 MB +1970/m);
    expect((await cli(['snapshot', 'create', '--from', 'my box', '--name', 'point'])).code).toBe(5);
    await cli(['snapshot', 'rm', 'point', 'my box-a1b2c3']);
  });

  it.each([
    [['--name', 'a'], 'Nothing is named to make a snapshot from.', 'Give --image IMAGE or --from SANDBOX.'],
    [
      ['--name', 'a', '--image', 'debian:13', '--from', 'demo'],
      'A snapshot is made from an image or from a sandbox.',
      'Give --image or --from, not both.',
    ],
    [['--from', 'demo', '--user', 'ann'], 'There is no parameter "user"', ''],
    [['--image', 'debian:13'], 'name is required', ''],
    [['--form', 'demo'], 'There is no parameter "form"', 'from'],
  ])('refuses %j with the next step', async (argv, said, hint) => {
    const { code, stdout, stderr } = await cli(['snapshot', 'create', ...argv]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(said);
    expect(stderr).toContain(hint);
  });

  it('makes, lists, shows and deletes', async () => {
    const made = await cli(['snapshot', 'create', '--name', 'tools', '--image', 'debian:13']);
    expect(made.stdout).toMatch(/^tools {2}snap_\w+\nIt is pending: `sandhaven snapshot inspect 'tools'`/);
    expect((await cli(['snapshot', 'ls'])).stdout).toMatch(/^tools +snap_\w+ +pending +debian:13/m);
    expect(JSON.parse((await cli(['snapshot', 'ls', '--json'])).stdout)).toMatchObject({ total_count: 1 });
    expect((await cli(['snapshot', 'inspect', 'tools'])).stdout).toMatch(/^image +debian:13$/m);
    const { code, stdout, stderr } = await cli(['snapshot', 'rm', 'none', 'tools']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^Snapshot 'tools' \(snap_\w+\) was deleted\.\n$/);
    expect(stderr).toContain("There is no snapshot 'none'.");
    expect((await cli(['snapshot', 'ls'])).stdout).toBe('There are no snapshots.\n');
  });

  it('names the nearest of its words', async () => {
    expect((await cli(['snapshot', 'inspct'])).stderr).toContain(
      'Did you mean `sandhaven snapshot inspect`?',
    );
    expect((await cli(['snapshot'])).code).toBe(2);
    expect((await cli(['snapshot', 'constructor'])).code).toBe(2);
  });
});
