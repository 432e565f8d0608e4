/** Deletion of sessions by a real agent. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ScratchSandbox, startScratchSandbox } from '../scratch-sandbox.ts';

let sandbox: ScratchSandbox;
beforeAll(async () => {
  sandbox = await startScratchSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const env = { PATH: '/usr/bin:/bin' };
const create = (sessionId: string) => sandbox.agent.createSession(sandbox.id, { sessionId, cwd: '.', env });
const run = (sessionId: string, command: string, waitRunMs = 10_000) =>
  sandbox.agent.runSessionCommand(sandbox.id, {
    ...{ sessionId, commandId: `${sessionId}-1`, command, waitTurnMs: 10_000, waitRunMs },
  });
const remove = (sessionId: string) => sandbox.agent.deleteSession(sandbox.id, sessionId);
const ids = async () =>
  (await sandbox.agent.listSessions(sandbox.id)).sessions.map(({ sessionId }) => sessionId);
const count = async (words: string) => (await sandbox.sh(`pgrep -fc '^${words}' || true`)).output;

it('ends the command that runs, and all that earlier ones have left', async () => {
  await create('a');
  await create('b');
  await run('a', 'sleep 7101 & setsid sleep 7102 & disown -a');
  await sandbox.agent.runSessionCommand(sandbox.id, {
    ...{ sessionId: 'a', commandId: 'second', command: 'sleep 7103', waitTurnMs: 0, waitRunMs: 0 },
  });
  await run('b', 'sleep 7104 &');
  await remove('a');
  expect(await count('sleep 710[123]')).toBe('0\n');
  expect(await count('sleep 7104')).toBe('1\n');
  expect(await ids()).toEqual(['b']);
});

it('forgets the logs, and frees the id', async () => {
  await create('again');
  await run('again', 'echo one');
  await remove('again');
  const logs = sandbox.agent.sessionCommandLogs(sandbox.id, 'again', 'again-1');
  await expect(logs).rejects.toMatchObject({ code: 'not_found', fields: { resource: 'session' } });
  await create('again');
  expect(await run('again', 'echo two')).toMatchObject({ status: 'completed', output: 'two\n' });
});

it('is for a closed session too, and for each once', async () => {
  await create('closed');
  await run('closed', 'exit 3');
  await remove('closed');
  await expect(remove('closed')).rejects.toMatchObject({
    code: 'not_found',
    fields: { resource: 'session' },
  });
});

it('answers the caller who waits for the command', async () => {
  await create('waited');
  const waiting = run('waited', 'echo begun; sleep 7200');
  await expect.poll(() => count('sleep 7200')).toBe('1\n');
  await remove('waited');
  expect(await waiting).toMatchObject({ status: 'completed', exitCode: 137, output: 'begun\n' });
});
