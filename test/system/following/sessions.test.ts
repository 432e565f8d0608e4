/** Following a session's command: waiting for its end, for more output, and for what answers an input. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, must } from '../../support/service.ts';
import { type SharedService, sharedService } from '../../support/shared-service.ts';

type Body = Record<string, unknown>;
let service: SharedService;

beforeAll(async () => {
  service = await sharedService();
  await must(service, 'CreateSandbox', { memory_gb: 1, disk_gb: 1 });
  await must(service, 'CreateSession', { session_id: 's' });
}, 120_000);

afterAll(() => service?.stop());

const begin = (command: string) =>
  must(service, 'RunSessionCommand', { session_id: 's', command, async_exec: true });
const logs = ({ command_id }: Body, more: Body = {}) =>
  must(service, 'GetSessionCommandLogs', { session_id: 's', command_id, ...more });
const send = ({ command_id }: Body, input: string, more: Body = {}) =>
  must(service, 'SendSessionInput', { session_id: 's', command_id, input, ...more });

it('[WIRE-SESSION-15, SBX-SESSION-05] answers running without waiting, whatever has happened since', async () => {
  for (let turn = 0; turn < 20; turn++) {
    const answer = await begin('true');
    expect(answer).toMatchObject({ status: 'running' });
    expect(answer).not.toHaveProperty('exit_code');
  }
  const waiting = await begin('sleep 0.2');
  expect(await begin('true')).toMatchObject({ status: 'running' });
  await logs(waiting, { wait_seconds: 10 });
});

it('waits for the end of a command, with all that it printed', async () => {
  const command = await begin('echo one; sleep 1; echo two >&2; exit_code() { return 3; }; exit_code');
  expect(await logs(command)).toMatchObject({ status: 'running' });
  expect(await logs(command, { wait_seconds: 30 })).toMatchObject({
    status: 'completed',
    exit_code: 3,
    output: 'one\ntwo\n',
    stdout: 'one\n',
    stderr: 'two\n',
    next_offset: 8,
  });
});

it('waits no longer than it was asked to', async () => {
  const command = await begin('sleep 5');
  const begun = performance.now();
  expect(await logs(command, { wait_seconds: 1 })).toMatchObject({ status: 'running' });
  expect(performance.now() - begun).toBeGreaterThan(900);
  expect(performance.now() - begun).toBeLessThan(4_000);
  await logs(command, { wait_seconds: 30 });
});

it('goes on from an offset, and gives each byte once', async () => {
  const command = await begin('for n in 1 2 3; do echo "é$n"; sleep 1; done');
  let followed = '';
  let offset = 0;
  let calls = 0;
  for (let status: unknown = 'running'; status !== 'completed'; calls++) {
    const next = await logs(command, { offset, wait_seconds: 30 });
    expect(next).toMatchObject({ stdout: '', stderr: '' });
    followed += String(next['output']);
    offset = Number(next['next_offset']);
    status = next['status'];
  }
  expect(followed).toBe('é1\né2\né3\n');
  expect(calls).toBeGreaterThanOrEqual(3);
  expect(await logs(command, { offset: 4, wait_seconds: 30 })).toMatchObject({ output: 'é2\né3\n' });
  expect(await logs(command, { offset: 1_000 })).toMatchObject({ output: '', next_offset: 12 });
});

it('an input gives what the command printed then, when that is waited for', async () => {
  const command = await begin('echo ask; read name; echo "hello $name"; read again; echo "bye $again"');
  await logs(command, { offset: 0, wait_seconds: 30 });
  expect(await send(command, 'Ada', { wait_seconds: 30 })).toMatchObject({
    sent: true,
    status: 'running',
    output: 'hello Ada\n',
  });
  expect(await send(command, 'Ada')).toEqual({
    session_id: 's',
    command_id: command['command_id'],
    sent: true,
  });
  expect(await logs(command, { wait_seconds: 30 })).toMatchObject({ exit_code: 0 });
});

it('a wait out of its bounds is refused', async () => {
  const command = await begin('true');
  for (const wait_seconds of [-1, 61]) {
    const parameters = { session_id: 's', command_id: command['command_id'], wait_seconds };
    expect((await call(service, 'GetSessionCommandLogs', parameters)).body).toMatchObject({
      code: 'invalid_argument',
      parameter: 'wait_seconds',
    });
  }
});

it('the list of processes does not show what drives the session', async () => {
  const { output } = await must(service, 'RunSessionCommand', { session_id: 's', command: 'ps -eo args' });
  expect(output).toContain('bash');
  expect(output).not.toContain('printf');
  const longest = Math.max(
    ...String(output)
      .split('\n')
      // The agent and its supervisors show the arguments of their start.
      .filter((line) => !line.includes(' --sandbox-id '))
      .map((line) => line.length),
  );
  expect(longest).toBeLessThan(120);
});
