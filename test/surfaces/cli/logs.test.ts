/** `sandhaven logs`: the output of a session's command, so far and as it comes. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Harness, startHttp } from '../http/http-harness.ts';
import { cliFor } from './cli-harness.ts';

let http: Harness;
let cli: ReturnType<typeof cliFor>;

beforeAll(async () => {
  http = await startHttp();
  cli = cliFor(http.url);
  await http.call('Sandbox.CreateSandbox', { name: 'demo' });
  await http.call('Sandbox.CreateSession', { sandbox: 'demo', session_id: 'work' });
  await http.call('Sandbox.CreateSession', { sandbox: 'demo', session_id: 'idle' });
  for (const command of ['first', 'second'])
    await http.call('Sandbox.RunSessionCommand', { sandbox: 'demo', session_id: 'work', command });
});

afterAll(() => http.close());

it('prints the log of the newest command, or of the one that is named', async () => {
  expect(await cli(['logs', 'demo', 'work'])).toEqual({ code: 0, stdout: 'second\n', stderr: '' });
  expect((await cli(['logs', 'demo', 'work', 'cmd_1'])).stdout).toBe('first\n');
});

it('ends with the command when it follows', async () => {
  expect(await cli(['logs', 'demo', 'work', '--follow'])).toEqual({
    code: 0,
    stdout: 'second\n',
    stderr: '',
  });
  expect((await cli(['logs', '-f', 'demo', 'work', 'cmd_1'])).stdout).toBe('first\n');
});

it('prints JSON: one object for the whole, one a line for what it follows', async () => {
  expect(JSON.parse((await cli(['logs', 'demo', 'work', '--json'])).stdout)).toMatchObject({
    output: 'second\n',
    status: 'completed',
    exit_code: 0,
  });
  const lines = (await cli(['logs', 'demo', 'work', '--json', '--follow'])).stdout.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).output).join('')).toBe('second\n');
});

it('goes on until an interrupt while the command runs', async () => {
  const { services } = http;
  const { follow } = services.sessions;
  const controller = new AbortController();
  let calls = 0;
  // As an agent that has one more line at each call.
  services.sessions.follow = async (_caller, _reference, { offset }) => {
    calls++;
    if (calls === 3) controller.abort();
    return {
      status: 'running',
      exitCode: null,
      output: `${calls}\n`,
      truncated: false,
      nextOffset: offset + 2,
    };
  };
  try {
    const { code, stdout } = await cli(['logs', 'demo', 'work', '-f'], { signal: controller.signal });
    expect(code).toBe(130);
    expect(stdout).toBe('1\n2\n');
  } finally {
    services.sessions.follow = follow;
  }
});

it('prints the bytes of the command, and names on standard error what the log has lost', async () => {
  const { services } = http;
  const { follow } = services.sessions;
  services.sessions.follow = async (_caller, _reference, { offset, live }) => {
    const ended = { status: 'completed', exitCode: 0, truncated: true, nextOffset: 9 } as const;
    if (offset >= 9) return { ...ended, output: '' };
    live?.show({ stream: 'stdout', bytes: Buffer.from('a'), leftOutBytes: 0 });
    live?.show({ stream: 'stdout', bytes: Buffer.from('z\n'), leftOutBytes: 6 });
    return { ...ended, output: 'a\n[… 6 bytes left out …]\nz\n' };
  };
  try {
    expect(await cli(['logs', 'demo', 'work'])).toEqual({
      code: 0,
      stdout: 'az\n',
      stderr: '6 bytes of the output are missing: they came too fast to be kept.\n',
    });
  } finally {
    services.sessions.follow = follow;
  }
});

it.each([
  [['logs'], 2, 'No sandbox is named.'],
  [['logs', 'demo'], 2, 'No session is named.'],
  [['logs', 'demo', 'none'], 4, 'Its sessions are work, idle.'],
  [['logs', 'demo', 'idle'], 4, "Session 'idle' has run no command yet."],
  [['logs', 'demo', 'work', 'none'], 4, "There is no command 'none'."],
  [['logs', 'demo', 'work', 'cmd_1', 'more'], 2, "'more' is one argument too many."],
])('refuses %j', async (argv, status, said) => {
  const { code, stderr } = await cli(argv);
  expect(code).toBe(status);
  expect(stderr).toContain(said);
});
