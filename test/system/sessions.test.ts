import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { initIdOf } from '../isolation/runtimes/machine-on-host.ts';
import { call, must, type Service, startService } from '../support/service.ts';

type Body = Record<string, unknown>;

const PATIENCE_MS = 60_000;
let service: Service;

beforeAll(async () => {
  service = await startService();
  await must(service, 'CreateSandbox', {
    name: 'shells',
    memory_gb: 1,
    disk_gb: 1,
    env_vars: { COLOUR: 'sand', TERM_PROGRAM: 'x' },
  });
}, 120_000);

afterAll(() => service?.stop());

const open = (session_id: string) => must(service, 'CreateSession', { session_id });
const run = (session_id: string, command: string) =>
  must(service, 'RunSessionCommand', { session_id, command });
const begin = (session_id: string, command: string) =>
  must(service, 'RunSessionCommand', { session_id, command, async_exec: true });
const logs = ({ session_id, command_id }: Body) =>
  must(service, 'GetSessionCommandLogs', { session_id, command_id });
const refusal = async (tool: string, parameters: Body) => (await call(service, tool, parameters)).body;

async function ended(command: Body): Promise<Body> {
  const status = async () => (await logs(command))['status'];
  await expect.poll(status, { timeout: PATIENCE_MS }).toBe('completed');
  return logs(command);
}

async function printed(command: Body, text: string): Promise<void> {
  await expect.poll(async () => (await logs(command))['output'], { timeout: PATIENCE_MS }).toContain(text);
}

describe('a session', () => {
  it('[SBX-SESSION-01, WIRE-SESSION-01, SBX-SESSION-10] is made with an id of the caller’s or a generated one', async () => {
    const named = await open('My_session-1');
    expect(named).toMatchObject({ session_id: 'My_session-1', status: 'active' });
    const createdAt = Date.parse(String(named['created_at']));
    expect(Math.abs(Date.now() - createdAt)).toBeLessThan(PATIENCE_MS);
    const generated = await must(service, 'CreateSession', { sandbox: 'shells' });
    expect(generated['session_id']).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    for (const session_id of ['', 'a b', '../x', 'é', 'x'.repeat(65)]) {
      expect(await refusal('CreateSession', { session_id })).toMatchObject({
        code: 'invalid_argument',
        parameter: 'session_id',
      });
    }
    expect(await open('x'.repeat(64))).toMatchObject({ status: 'active' });
    for (const one of [generated['session_id'], 'x'.repeat(64)]) await run(String(one), 'exit');
  });

  it('[WIRE-SESSION-02] keeps its id while it is active', async () => {
    await open('taken');
    expect(await refusal('CreateSession', { session_id: 'taken' })).toMatchObject({
      code: 'already_exists',
      parameter: 'session_id',
    });
    await run('taken', 'exit 0');
    await open('taken');
  });

  it('[SBX-SESSION-02, WIRE-SESSION-03, SBX-SESSION-09] is listed with its recent commands until it is closed', async () => {
    await open('listed');
    const command = await run('listed', 'echo one; false');
    const running = await begin('listed', 'sleep 60');
    const list = async () => (await must(service, 'ListSessions'))['sessions'] as Body[];
    const found = (await list()).find(({ session_id }) => session_id === 'listed');
    expect(found).toEqual({
      session_id: 'listed',
      status: 'active',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      recent_commands: [
        { command_id: running['command_id'], command: 'sleep 60', status: 'running' },
        { command_id: command['command_id'], command: 'echo one; false', status: 'completed', exit_code: 1 },
      ],
    });
    await must(service, 'SendSessionInput', {
      session_id: 'listed',
      command_id: running['command_id'],
      input: '\u0003',
    });
    await ended(running);
    expect((await list()).map(({ session_id }) => session_id)).not.toContain('listed');
  });

  it('has the sandbox’s environment and starts at the sandbox root', async () => {
    await open('env');
    expect(await run('env', 'echo $COLOUR $TERM; pwd; tty')).toMatchObject({
      output: 'sand dumb\n/workspace\n/dev/pts/0\n'.replace('0', String(await ptyOf('env'))),
    });
  });

  it('[WIRE-SESSION-04] keeps directory, variables and functions', async () => {
    await open('kept');
    await run('kept', 'mkdir -p deep/er; cd deep/er; n=1; more() { n=$((n + 1)); }');
    expect(await run('kept', 'more; more; echo $n $PWD')).toMatchObject({ output: '3 /workspace/deep/er\n' });
  });

  it('[WIRE-SESSION-05] ends with exit, and reports that to later commands', async () => {
    await open('gone');
    const last = await run('gone', 'echo bye; exit 7');
    expect(last).toMatchObject({ status: 'completed', exit_code: 7, output: 'bye\n' });
    expect(await refusal('RunSessionCommand', { session_id: 'gone', command: 'true' })).toMatchObject({
      code: 'invalid_state',
      status: 409,
      parameter: 'session_id',
      hint: expect.stringContaining('CreateSession'),
    });
    expect(await logs(last)).toMatchObject({ output: 'bye\n', exit_code: 7 });
  });
});

const ptyOf = async (session_id: string) =>
  /(\d+)\n$/.exec(String((await run(session_id, 'tty'))['output']))?.[1];

describe('a command of a session', () => {
  beforeAll(() => open('work'));

  it('[SBX-SESSION-03, WIRE-SESSION-06, SBX-SESSION-04] is waited for, and gives its exit code and output', async () => {
    const result = await run('work', 'sleep 0.3; echo out; sleep 0.1; echo err >&2; (exit 4)');
    expect(result).toEqual({
      session_id: 'work',
      command_id: expect.stringMatching(/^cmd_[0-9a-z]{16}$/),
      status: 'completed',
      exit_code: 4,
      output: 'out\nerr\n',
    });
  });

  it('[SBX-SESSION-05, WIRE-SESSION-06] is running, without an exit code, when it is not waited for', async () => {
    const command = await begin(
      'work',
      'echo begun; until test -e /tmp/done; do sleep 0.02; done; exit 0 | true',
    );
    expect(command).toEqual({
      session_id: 'work',
      command_id: command['command_id'],
      status: 'running',
      output: expect.stringMatching(/^(begun\n)?$/),
    });
    const second = await begin('work', 'echo second');
    expect(second).toMatchObject({ status: 'running', output: '' });
    expect(await logs(second)).toMatchObject({ status: 'queued' });
    const sessions = (await must(service, 'ListSessions'))['sessions'] as Body[];
    const recent = sessions.flatMap(({ recent_commands }) => recent_commands as Body[]);
    const waiting = recent.find(({ command_id }) => command_id === second['command_id']);
    expect(waiting).toMatchObject({ status: 'queued' });
    expect(waiting).not.toHaveProperty('exit_code');
    expect(second).not.toHaveProperty('exit_code');
    await printed(command, 'begun');
    expect(await logs(command)).not.toHaveProperty('exit_code');
    await must(service, 'WriteFile', { path: '/tmp/done', content: '' });
    expect(await ended(second)).toMatchObject({ exit_code: 0, output: 'second\n' });
    expect(await ended(command)).toMatchObject({ exit_code: 0 });
  });

  it('[SBX-SESSION-06, WIRE-SESSION-10] has logs of both streams', async () => {
    const command = await run('work', 'echo out; echo err >&2');
    expect(await logs(command)).toEqual({
      session_id: 'work',
      command_id: command['command_id'],
      status: 'completed',
      exit_code: 0,
      output: expect.stringMatching(/^(out\nerr\n|err\nout\n)$/),
      stdout: 'out\n',
      stderr: 'err\n',
      truncated: false,
      next_offset: 8,
    });
  });

  it('[SBX-SESSION-07, WIRE-SESSION-11] takes input while it runs', async () => {
    const command = await begin('work', 'read -r -s -p "Password: " word; echo; echo "<$word>"');
    await printed(command, 'Password: ');
    const { session_id, command_id } = command;
    expect(await must(service, 'SendSessionInput', { session_id, command_id, input: 'swordfish' })).toEqual({
      session_id,
      command_id,
      sent: true,
    });
    expect(await ended(command)).toMatchObject({ output: 'Password: \n<swordfish>\n', exit_code: 0 });
  });

  it('[WIRE-SESSION-12] takes none when it has ended, or has not begun', async () => {
    const { session_id, command_id } = await run('work', 'true');
    const input = (id: unknown) => refusal('SendSessionInput', { session_id, command_id: id, input: 'x' });
    expect(await input(command_id)).toMatchObject({ code: 'invalid_state', parameter: 'command_id' });
    const slow = await begin('work', 'sleep 0.5');
    const queued = await begin('work', 'true');
    expect(await input(queued['command_id'])).toMatchObject({ code: 'invalid_state' });
    await ended(slow);
  });

  it('[WIRE-SESSION-07] runs after those before it: ten at once keep their order', async () => {
    const begun: Body[] = [];
    for (let index = 0; index < 10; index++)
      begun.push(await begin('work', `echo ${index} >> order; sleep 0.05`));
    await Promise.all(begun.map(ended));
    expect(await run('work', 'tr -d "\\n" < order')).toMatchObject({ output: '0123456789' });
    const together = await Promise.all(Array.from({ length: 10 }, () => run('work', 'echo x >> together')));
    expect(together.map(({ exit_code }) => exit_code)).toEqual(Array(10).fill(0));
    expect(await run('work', 'wc -l < together')).toMatchObject({ output: '10\n' });
  });

  it('[WIRE-SESSION-09] fails by itself when it is no complete shell', async () => {
    for (const command of ['echo "open', 'cat <<END\nendless', 'while true; do']) {
      const result = await run('work', command);
      expect(result, command).toMatchObject({ status: 'completed' });
      expect(result['exit_code'], command).toBeGreaterThan(0);
      expect(await run('work', 'echo well')).toMatchObject({ exit_code: 0, output: 'well\n' });
    }
  });

  it('is not found when it does not exist, and the error names its kind', async () => {
    for (const [session_id, command_id, resource] of [
      ['nobody', 'cmd_0123456789abcdef', 'session'],
      ['work', 'cmd_0123456789abcdef', 'command'],
    ]) {
      expect(await refusal('GetSessionCommandLogs', { session_id, command_id })).toMatchObject({
        code: 'not_found',
        resource,
      });
    }
    expect(await refusal('RunSessionCommand', { session_id: 'nobody', command: 'true' })).toMatchObject({
      code: 'not_found',
      resource: 'session',
      parameter: 'session_id',
    });
  });

  it('may be a fork bomb: other sessions and lists still answer', async () => {
    await open('bomb');
    await open('bystander');
    const bomb = await begin('bomb', 'bomb() { bomb | bomb & }; bomb; sleep 600');
    for (let round = 0; round < 5; round++) {
      expect(await must(service, 'ListSessions')).toMatchObject({ sessions: expect.any(Array) });
      expect(await run('bystander', 'echo fine')).toMatchObject({ output: 'fine\n' });
      expect(await logs(bomb)).toMatchObject({ status: 'running' });
    }
    await must(service, 'StopSandbox', { sandbox: 'shells' });
    await must(service, 'StartSandbox', { sandbox: 'shells' });
  }, 120_000);
});

it('a fork bomb that outlives its command leaves a way out, which the refusal names', async () => {
  // Takes every process that the sandbox may have, and each that gets free.
  const bomb = `import os, signal, time
if os.fork() == 0:
    while True:
        try:
            if os.fork() == 0: signal.pause()
        except OSError: time.sleep(0.01)`;
  await must(service, 'RunCommand', { command: `echo kept > kept; python3 -c '${bomb}' >/dev/null 2>&1` });
  const tried = async () => (await refusal('RunCommand', { command: 'true' }))['code'];
  await expect.poll(tried, { timeout: PATIENCE_MS }).toBe('resource_exhausted');
  for (const [tool, parameters] of [
    ['RunCommand', { command: 'true' }],
    ['RunCode', { code: '1' }],
    ['CreateSession', {}],
  ] as const) {
    expect(await refusal(tool, parameters)).toMatchObject({
      code: 'resource_exhausted',
      hint: 'End all of its processes: Sandbox.StopSandbox, then Sandbox.StartSandbox. Its files stay.',
    });
  }
  await must(service, 'StopSandbox', { sandbox: 'shells' });
  await must(service, 'StartSandbox', { sandbox: 'shells' });
  expect(
    await must(service, 'RunCommand', { command: 'cat kept; ls -d /proc/[0-9]* | wc -l' }),
  ).toMatchObject({
    stdout: expect.stringMatching(/^kept\n\d{1,2}\n$/),
  });
}, 60_000);

describe('events around a session', () => {
  it('[WIRE-SESSION-13] a service that is killed finds session, running command and logs as they are', async () => {
    await open('lasting');
    await run('lasting', 'kept=yes');
    const command = await begin(
      'lasting',
      'for i in 1 2 3; do echo before $i; done; until test -e /tmp/after; do sleep 0.02; done; echo after; read -r word; echo $word; exit 9',
    );
    await printed(command, 'before 3');
    await service.kill();
    await service.restart();
    expect(await logs(command)).toMatchObject({
      status: 'running',
      output: 'before 1\nbefore 2\nbefore 3\n',
    });
    await must(service, 'WriteFile', { path: '/tmp/after', content: '' });
    await printed(command, 'after');
    await must(service, 'SendSessionInput', { ...idsOf(command), input: 'typed' });
    expect(await ended(command)).toMatchObject({
      exit_code: 9,
      stdout: 'before 1\nbefore 2\nbefore 3\nafter\ntyped\n',
    });
  }, 120_000);

  it('[WIRE-SESSION-14] a stop of the sandbox closes its sessions; their logs stay readable until the next start', async () => {
    await open('ended');
    const done = await run('ended', 'echo out; echo err >&2; (exit 3)');
    const command = await begin('ended', 'echo begun; sleep 600');
    await printed(command, 'begun');
    const queued = await begin('ended', 'echo never');
    const waiting = call(service, 'RunSessionCommand', { session_id: 'ended', command: 'true' });
    await must(service, 'StopSandbox', { sandbox: 'shells' });
    // Whether the agent still came to say that it never ran, or not.
    const { code, exit_code } = (await waiting).body;
    expect(code ?? exit_code).toBeOneOf(['invalid_state', 125]);
    expect(await refusal('ListSessions', {})).toMatchObject({
      code: 'invalid_state',
      hint: expect.stringContaining('StartSandbox'),
    });
    expect(await logs(done)).toMatchObject({
      ...{ status: 'completed', exit_code: 3, output: 'out\nerr\n', stdout: 'out\n', stderr: 'err\n' },
      ...{ truncated: false, next_offset: 8 },
    });
    const cut = await logs(command);
    expect(cut).toMatchObject({ status: 'completed', output: 'begun\n' });
    expect(cut).not.toHaveProperty('exit_code');
    expect(await logs(queued)).toMatchObject({ status: 'completed', exit_code: 125, stdout: '' });
    const after = { ...idsOf(done), offset: 4, wait_seconds: 60 };
    expect(await must(service, 'GetSessionCommandLogs', after)).toMatchObject({
      ...{ status: 'completed', exit_code: 3, output: 'err\n', stdout: '', next_offset: 8 },
    });
    const unknown = { session_id: 'ended', command_id: 'cmd_0000000000000000' };
    expect(await refusal('GetSessionCommandLogs', unknown)).toMatchObject({ code: 'not_found' });
    await must(service, 'ArchiveSandbox', { sandbox: 'shells' });
    await service.restart();
    expect(await logs(done)).toMatchObject({ output: 'out\nerr\n' });

    await must(service, 'StartSandbox', { sandbox: 'shells' });
    expect(await must(service, 'ListSessions')).toEqual({ sessions: [] });
    const closed = { code: 'invalid_state', parameter: 'session_id' };
    expect(await refusal('RunSessionCommand', { session_id: 'ended', command: 'true' })).toMatchObject(
      closed,
    );
    expect(await refusal('SendSessionInput', { ...idsOf(command), input: 'x' })).toMatchObject(closed);
    for (const asked of [idsOf(command), after]) {
      expect(await refusal('GetSessionCommandLogs', asked)).toMatchObject({
        ...{ code: 'not_found', resource: 'command' },
        detail: expect.stringContaining("'ended' is closed"),
      });
    }
    expect(await refusal('RunSessionCommand', { session_id: 'never', command: 'true' })).toMatchObject({
      ...{ code: 'not_found', resource: 'session' },
    });
    await open('ended');
    expect(await run('ended', 'echo again')).toMatchObject({ output: 'again\n' });
  }, 120_000);

  it('[WIRE-SESSION-14] a machine that ended by itself closes its sessions too', async () => {
    await open('lost');
    await run('lost', 'echo here');
    const { id } = await must(service, 'GetSandbox', { sandbox: 'shells' });
    process.kill(initIdOf(service.dataDir, String(id)), 'SIGKILL');
    const state = async () => (await must(service, 'GetSandbox', { sandbox: 'shells' }))['state'];
    await expect.poll(state, { timeout: PATIENCE_MS }).toBe('stopped');
    await must(service, 'StartSandbox', { sandbox: 'shells' });
    expect(await refusal('RunSessionCommand', { session_id: 'lost', command: 'true' })).toMatchObject({
      ...{ code: 'invalid_state', parameter: 'session_id' },
    });
  }, 120_000);

  it('a client that goes away does not end the command', async () => {
    await open('left');
    const controller = new AbortController();
    const left = fetch(`${service.url}/v1/tools/Sandbox.RunSessionCommand`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ session_id: 'left', command: 'touch begun; sleep 1; echo done > result' }),
      signal: controller.signal,
    }).catch(() => 'left');
    const exists = async (path: string) => (await call(service, 'GetFileInfo', { path })).status;
    await expect.poll(() => exists('begun'), { timeout: PATIENCE_MS }).toBe(200);
    controller.abort();
    expect(await left).toBe('left');
    expect(await run('left', 'cat result')).toMatchObject({ output: 'done\n' });
  });
});

const idsOf = ({ session_id, command_id }: Body) => ({ session_id, command_id });
