/** The commands, against a real HTTP server over fake services. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { allTools } from '../../../src/catalog/index.ts';
import { API_KEY } from '../fakes/fake-services.ts';
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
  http.log.length = 0;
});

describe('sandhaven', () => {
  it('[WIRE-CLI-04] lists all commands, those from elsewhere too', async () => {
    const commands = { up: { summary: 'run the service', run: async () => 42 } };
    for (const argv of [[], ['--help'], ['-h'], ['help']]) {
      const { code, stdout } = await cli(argv, { commands });
      expect(code).toBe(0);
      for (const name of ['up', 'run', 'ssh', 'ls', 'rm', 'call', 'tools'])
        expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
    }
    expect((await cli(['up', '--x'], { commands })).code).toBe(42);
  });

  it('shows its version', async () => {
    expect(await cli(['--version'])).toMatchObject({
      code: 0,
      stdout: 'sandhaven 1.2.3\nDocumentDb toolkit 0.4.0\n',
    });
  });

  it.each(['run', 'ssh', 'ls', 'rm', 'call', 'tools'])('%s has help, without a service', async (name) => {
    for (const argv of [
      [name, '--help'],
      [name, '-h'],
      ['help', name],
    ]) {
      const { code, stdout, stderr } = await cli(argv, { env: {} });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(new RegExp(`^Usage: sandhaven ${name}`));
    }
  });

  it('suggests commands and flags', async () => {
    expect(await cli(['sl'])).toMatchObject({ code: 2 });
    expect((await cli(['runn'])).stderr).toContain('Did you mean `sandhaven run`?');
    expect((await cli(['ls', '--sate', 'started'])).stderr).toContain('Did you mean --state?');
    expect((await cli(['constructor'])).code).toBe(2);
  });
});

describe('the choice of service and key', () => {
  it('[WIRE-CLI-03] [SBX-AUTH-02] reads SANDBOX_API_URL and SANDBOX_API_KEY', async () => {
    expect((await cli(['ls'])).code).toBe(0);
    expect((await cli(['ls'], { env: { SANDBOX_API_URL: http.url, SANDBOX_API_KEY: 'wrong' } })).code).toBe(
      3,
    );
  });

  it('takes the key from the service’s own file', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'sandhaven-cli-'));
    await writeFile(join(directory, 'api-key'), `${API_KEY}\n`);
    const env = { SANDBOX_API_URL: http.url };
    for (const argv of [
      ['ls', '--data-dir', directory],
      ['--data-dir', directory, 'ls'],
      [`--data-dir=${directory}`, 'ls'],
    ]) {
      expect((await cli(argv, { env })).code).toBe(0);
    }
    expect((await cli(['ls'], { env: { ...env, SANDHAVEN_DATA_DIR: directory } })).code).toBe(0);
    const elsewhere = await cli(['ls', '--data-dir', directory, '--url', 'http://example.org:1'], {
      env: {},
    });
    expect(elsewhere).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('SANDBOX_API_KEY is not set'),
    });
    await rm(directory, { recursive: true });
    expect(await cli(['ls', '--data-dir', directory], { env })).toMatchObject({ code: 3 });
  });

  it('takes --url before and after the command', async () => {
    const env = { SANDBOX_API_KEY: API_KEY };
    expect((await cli(['ls', '--url', `${http.url}/`], { env })).code).toBe(0);
    expect((await cli(['--url', http.url, 'ls'], { env })).code).toBe(0);
    expect((await cli(['ls', '--url', 'nonsense'], { env })).code).toBe(2);
    expect((await cli(['--url'], { env })).code).toBe(2);
  });

  it('[WIRE-ERR-16] reports a service that cannot be reached', async () => {
    const env = { SANDBOX_API_KEY: API_KEY, SANDBOX_API_URL: 'http://127.0.0.1:9' };
    const { code, stderr } = await cli(['ls'], { env });
    expect(code).toBe(7);
    expect(stderr).toMatch(/^Unavailable: The service at http:\/\/127\.0\.0\.1:9 cannot be reached/);
    expect(stderr).not.toContain(API_KEY);
  });

  it('has no flag for the key', async () => {
    expect((await cli(['ls', '--api-key', 'x'])).code).toBe(2);
  });
});

describe('call', () => {
  it('takes parameters from a file or from standard input, so that secrets are in no list of processes', async () => {
    const hidden = JSON.stringify({ command: 'echo hidden', env: { A: 'canary' } });
    const shown = ['call', 'Sandbox.RunCommand', '--parameters', '-', '--sandbox', 'x', '--json'];
    await cli(['call', 'Sandbox.CreateSandbox', '--name', 'x']);
    const { code, stdout } = await cli(shown, { stdin: hidden });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ exit_code: 0 });
    for (const stdin of ['{"env": canary', '["canary"]', '"canary"']) {
      const refused = await cli(shown, { stdin });
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain('JSON');
      expect(refused.stderr).not.toContain('canary');
    }
    expect(await cli(['call', 'Sandbox.WhoAmI', '--parameters', '/none/such'])).toMatchObject({ code: 2 });
  });

  it('takes --url as the tool’s own where the tool has it: the key goes to no other service', async () => {
    const asked: string[] = [];
    const elsewhere = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.end();
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    const { port } = elsewhere.address() as AddressInfo;
    try {
      const url = `http://127.0.0.1:${port}/project.git`;
      const { code, stdout } = await cli(['call', 'Sandbox.GitClone', '--json', `--url=${url}`]);
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ path: 'project', branch: 'main' });
      expect(asked).toEqual([]);
    } finally {
      elsewhere.close();
    }
  });

  it('[WIRE-CLI-01] calls any tool, and --json prints the plain result', async () => {
    const argv = ['call', 'Sandbox.CreateSandbox', '--name', 'demo', '--labels', '{"a":"b"}', '--json'];
    const { code, stdout, stderr } = await cli(argv);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ name: 'demo', labels: { a: 'b' }, state: 'started' });
  });

  it('[WIRE-CLI-01] prints for people otherwise', async () => {
    expect((await cli(['call', 'Sandbox.CreateSandbox', '--name', 'demo'])).stdout).toMatch(
      /^Sandbox 'demo' \(sb_[0-9a-z]{16}\) is started: python, 2 vCPU, 4 GB memory, 20 GB disk\. From image base; auto_stop_minutes 15, /,
    );
    expect((await cli(['call', 'Sandbox.WhoAmI'])).stdout).toBe(
      'user_id  user_1\nname     Ada\nemail    ada@example.org\n',
    );
    expect((await cli(['call', 'Sandbox.RunCommand', '--command', 'echo hi'])).stdout).toBe('hi\n');
  });

  it('takes all forms of flags', async () => {
    const argv = [
      'call',
      'Sandbox_CreateSandbox',
      '--json',
      '--memory-gb=8',
      '--auto_stop_minutes',
      '0',
      '--ephemeral',
    ];
    argv.push('--labels', 'team=core', '--labels', 'tier=a=b', '--env-vars={"A":"1"}');
    const created = JSON.parse((await cli(argv)).stdout);
    expect(created).toMatchObject({
      resources: { memory: 8 },
      auto_stop_minutes: 0,
      ephemeral: true,
      labels: { team: 'core', tier: 'a=b' },
    });
    const off = await cli(['call', 'Sandbox.CreateSandbox', '--json', '--no-ephemeral', '--name', '-x']);
    expect(JSON.parse(off.stdout)).toMatchObject({ ephemeral: false, name: '-x' });
    const set = [
      'call',
      'Sandbox.ConfigureSandboxAuto',
      '--sandbox',
      '-x',
      '--auto-delete-minutes',
      '-1',
      '--json',
    ];
    expect(JSON.parse((await cli(set)).stdout)).toMatchObject({ auto_delete_minutes: -1 });
  });

  it.each([
    [['Sandbox.CreateSandbox', '--cpu', '17'], 2, 'invalid_argument', 'cpu'],
    [['Sandbox.CreateSandbox', '--cpu=two'], 2, 'invalid_argument', 'cpu'],
    [['Sandbox.CreateSandbox', '--ephemeral=maybe'], 2, 'invalid_argument', 'ephemeral'],
    [['Sandbox.CreateSandbox', '--labels', '[1]'], 2, 'invalid_argument', 'labels'],
    [['Sandbox.CreateSandbox', '--memory', '8'], 2, 'invalid_argument', 'memory'],
    [['Sandbox.CreateSandbox', '--name', 'a', '--name', 'b'], 2, 'invalid_argument', 'name'],
    [['Sandbox.CreateSandbox', '--name'], 2, 'invalid_argument', undefined],
    [['Sandbox.CreateSandbox', 'demo'], 2, 'invalid_argument', undefined],
    [['Sandbox.GetSandbox', '--sandbox', 'nope'], 4, 'not_found', undefined],
    [['Sandbox.RunCommand', '--command', 'defect'], 1, 'internal', undefined],
    [['Sandbox.Nope'], 4, 'not_found', undefined],
  ])('[WIRE-CLI-02] [WIRE-ERR-03] [WIRE-ERR-09] %j exits with %i', async (argv, code, name, parameter) => {
    const plain = await cli(['call', ...argv]);
    expect(plain).toMatchObject({ code, stdout: '' });
    expect(plain.stderr).toMatch(/^[A-Z][a-z ]+: .+\n(Hint: .+\n)?$/);
    const json = await cli(['call', ...argv, '--json']);
    expect(json.code).toBe(code);
    const problem = JSON.parse(json.stderr);
    expect(problem).toMatchObject({ code: name, request_id: expect.stringMatching(/^req_/) });
    expect(problem.parameter).toBe(parameter);
  });

  it('suggests the parameter that was meant', async () => {
    expect((await cli(['call', 'Sandbox.CreateSandbox', '--memory', '8'])).stderr).toContain(
      'Did you mean memory_gb?',
    );
  });

  it.each(allTools.map(({ name }) => name))('%s --help shows its parameters', async (name) => {
    const { code, stdout } = await cli(['call', name, '--help'], { env: {} });
    expect(code).toBe(0);
    const tool = allTools.find((one) => one.name === name);
    for (const parameter of Object.keys(tool?.input.shape ?? {})) {
      expect(stdout).toContain(`--${parameter.replaceAll('_', '-')}`);
    }
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
  });

  it('shows types, defaults and bounds', async () => {
    const { stdout } = await cli(['call', 'Sandbox.CreateSandbox', '--help']);
    expect(stdout).toMatch(/--cpu INTEGER\n +vCPUs \(1-16, default 2\)\./);
    expect(stdout).toContain('--language python|typescript|javascript');
    expect((await cli(['call', 'Sandbox.GetSandbox', '--help'])).stdout).toMatch(
      /--sandbox TEXT {2}\(required\)/,
    );
  });

  it('shows progress where somebody watches, and nowhere else', async () => {
    const argv = ['call', 'Sandbox.CreateSandbox', '--image', 'debian'];
    const watched = await cli(argv, { tty: true });
    expect(watched.stderr).toContain('Pulling 33 %');
    expect(watched.stderr.endsWith('\r\x1b[K')).toBe(true);
    expect((await cli(argv)).stderr).toBe('');
  });

  it('[WIRE-HTTP-08] cancels the command when it is interrupted', async () => {
    const controller = new AbortController();
    const running = cli(['call', 'Sandbox.RunCommand', '--command', 'sleep 30'], {
      signal: controller.signal,
    });
    await expect.poll(() => http.begun).toContain('sleep 30');
    controller.abort();
    expect(await running).toMatchObject({ code: 130, stderr: '' });
    await expect.poll(() => http.cancelled).toContain('sleep 30');
  });

  it('lets no name steer the terminal', async () => {
    http.files.set('evil\x1b[2J\u202e', { content: Buffer.alloc(1), mode: 0o644 });
    const { stdout } = await cli(['call', 'Sandbox.ListFiles']);
    expect(stdout).toContain('evil\\x1b[2J\\u202e');
    expect(stdout).not.toContain('\x1b');
    http.files.clear();
  });
});

describe('tools', () => {
  it('[WIRE-HTTP-02] lists the catalogue, with schemas as JSON', async () => {
    const { stdout } = await cli(['tools'], { env: {} });
    for (const { name, title } of allTools) expect(stdout).toMatch(new RegExp(`^${name} +${title}$`, 'm'));
    const listed = JSON.parse((await cli(['tools', '--json'], { env: {} })).stdout).tools;
    expect(listed).toHaveLength(allTools.length);
    expect(listed[0]).toHaveProperty('input_schema');
  });
});

describe('ls and rm', () => {
  it('ls shows all sandboxes, however many pages they are', async () => {
    expect((await cli(['ls'])).stdout).toBe('There are no sandboxes.\n');
    for (let index = 0; index < 101; index++)
      await http.call('Sandbox.CreateSandbox', { name: `box${index}` });
    const lines = (await cli(['ls'])).stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(102);
    expect(lines[0]).toMatch(/^NAME +ID +STATE +LANGUAGE +CPU +MEMORY +DISK +CREATED$/);
    expect(lines[1]).toMatch(/^box100 +sb_\w{16} +started +python +2 +4 GB +20 GB +2026-/);
    expect(JSON.parse((await cli(['ls', '--json', '--state', 'started'])).stdout)).toMatchObject({
      total_count: 101,
    });
    expect((await cli(['ls', '--state', 'asleep'])).code).toBe(2);
  });

  it('rm deletes each, and names those it could not', async () => {
    await http.call('Sandbox.CreateSandbox', { name: 'a' });
    await http.call('Sandbox.CreateSandbox', { name: 'b' });
    const { code, stdout, stderr } = await cli(['rm', 'a', 'nope', 'b']);
    expect(code).toBe(4);
    expect(stdout).toMatch(/^Sandbox 'a' .* was deleted\.\nSandbox 'b' .* was deleted\.\n$/);
    expect(stderr).toContain("There is no sandbox 'nope'");
    expect(http.sandboxes.size).toBe(0);
    expect((await cli(['rm'])).code).toBe(2);
  });
});

describe('run', () => {
  it('runs code in a sandbox that it deletes again', async () => {
    expect(await cli(['run', 'echo hi'])).toEqual({ code: 0, stdout: 'hi\n', stderr: '' });
    expect(http.completed).toContain('create calm-reef-1');
    expect(http.sandboxes.size).toBe(0);
    expect(http.log.map(({ context }) => context['tool'])).toEqual([
      'Sandbox.CreateSandbox',
      'Sandbox.RunCode',
      'Sandbox.DeleteSandbox',
    ]);
  });

  it('runs it in the name of a Linux user', async () => {
    http.users.length = 0;
    await cli(['run', '-u', 'ann', 'echo hi']);
    expect(http.users).toEqual(['ann', null]);
    expect((await cli(['run', '--user', 'Ann', 'echo hi'])).code).toBe(2);
    expect(http.users).toHaveLength(2);
  });

  it('exits with the status of what ran', async () => {
    expect(await cli(['run', 'exit 3'])).toMatchObject({ code: 3, stdout: '', stderr: '' });
    expect(await cli(['run', '--', 'exit 4'])).toMatchObject({ code: 4 });
  });

  it('quotes the words of a command, and takes one word as a command line', async () => {
    await cli(['run', '--', 'echo', "it's", 'a b', '$HOME', '--json']);
    expect(http.completed).toContain("echo 'it'\\''s' 'a b' '$HOME' --json");
    await cli(['run', '--', 'echo $HOME | wc']);
    expect(http.completed).toContain('echo $HOME | wc');
  });

  it('reads code from a file and from standard input', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'sandhaven-cli-'));
    await writeFile(join(directory, 'code'), 'echo file');
    expect((await cli(['run', '--file', join(directory, 'code')])).stdout).toBe('file\n');
    expect((await cli(['run', '-f', join(directory, 'none')])).code).toBe(2);
    await rm(directory, { recursive: true });
    expect((await cli(['run'], { stdin: 'echo piped' })).stdout).toBe('piped\n');
    expect((await cli(['run', '-'], { stdin: 'echo piped' })).stdout).toBe('piped\n');
    expect((await cli(['run', '--file', '-'], { stdin: 'echo piped' })).stdout).toBe('piped\n');
  });

  it.each([
    [['run']],
    [['run', 'a', 'b']],
    [['run', 'a', '--', 'b']],
    [['run', '--']],
    [['run', 'a', '--file', 'b']],
    [['run', '--language', 'ruby', 'x']],
    [['run', '--timeout', '301', 'x']],
    [['run', '--timeout', 'x', 'x']],
  ])('refuses %j and leaves nothing behind', async (argv) => {
    expect((await cli(argv)).code).toBe(2);
    expect(http.sandboxes.size).toBe(0);
  });

  it('hands on language, image and timeout', async () => {
    expect(
      (await cli(['run', '--language', 'typescript', '--image', 'node:24', '--timeout', '5', 'echo x'])).code,
    ).toBe(0);
    const result = await cli(['run', '--json', 'echo x']);
    expect(JSON.parse(result.stdout)).toMatchObject({ stdout: 'x\n', charts: [] });
  });

  it('deletes its sandbox when it is interrupted', async () => {
    const controller = new AbortController();
    const running = cli(['run', '--', 'sleep 31'], { signal: controller.signal });
    await expect.poll(() => http.begun).toContain('sleep 31');
    controller.abort();
    expect((await running).code).toBe(130);
    expect(http.sandboxes.size).toBe(0);
    await expect.poll(() => http.cancelled).toContain('sleep 31');
  });
});
