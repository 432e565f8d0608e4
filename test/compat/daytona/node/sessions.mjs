/** Sessions: a shell that keeps its state, with commands that are waited for or followed. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { rejection, step, until } from './steps.mjs';

const session = 'compat-session';

export const sessionSteps = [
  step('sessions: makes one, finds it, and lists it', async ({ sandbox: { process } }) => {
    await process.createSession(session);
    assert.equal((await process.getSession(session)).sessionId, session);
    assert.ok((await process.listSessions()).some(({ sessionId }) => sessionId === session));
  }),
  step('sessions: keeps folder and variables', async ({ sandbox: { process } }) => {
    await process.executeSessionCommand(session, { command: 'cd /tmp; export KEPT=yes' });
    const { stdout, exitCode } = await process.executeSessionCommand(session, { command: 'pwd; echo $KEPT' });
    assert.equal(exitCode, 0);
    assert.equal(stdout.trim(), '/tmp\nyes');
  }),
  step('sessions: gives streams apart, status and logs', async ({ sandbox: { process } }) => {
    const command = 'echo out; echo err >&2; (exit 3)';
    const ran = await process.executeSessionCommand(session, { command });
    assert.deepEqual([ran.stdout.trim(), ran.stderr.trim(), ran.exitCode], ['out', 'err', 3]);
    const logs = await process.getSessionCommandLogs(session, ran.cmdId);
    assert.deepEqual([logs.stdout.trim(), logs.stderr.trim()], ['out', 'err']);
    const found = await process.getSessionCommand(session, ran.cmdId);
    assert.deepEqual([found.id, found.command, found.exitCode], [ran.cmdId, command, 3]);
    assert.ok((await process.getSession(session)).commands.some(({ id }) => id === ran.cmdId));
  }),
  step('sessions: begins a command that ends later', async ({ sandbox: { process } }) => {
    const ran = await process.executeSessionCommand(session, {
      command: 'echo begun; sleep 2; echo ended',
      runAsync: true,
    });
    assert.equal(ran.exitCode ?? null, null);
    const logged = async () => (await process.getSessionCommandLogs(session, ran.cmdId)).stdout ?? '';
    await until(async () => (await logged()).includes('begun'));
    assert.equal((await process.getSessionCommand(session, ran.cmdId)).exitCode ?? null, null);
    await until(async () => (await process.getSessionCommand(session, ran.cmdId)).exitCode === 0);
    assert.match(await logged(), /begun\nended/);
  }),
  step('sessions: follows the logs of a command to its end', async ({ sandbox: { process } }) => {
    const { cmdId } = await process.executeSessionCommand(session, {
      command: 'for i in 1 2 3; do echo out $i; echo err $i >&2; sleep 0.5; done',
      runAsync: true,
    });
    const seen = { out: '', err: '' };
    await process.getSessionCommandLogs(
      session,
      cmdId,
      (text) => {
        seen.out += text;
      },
      (text) => {
        seen.err += text;
      },
    );
    assert.deepEqual(seen, { out: 'out 1\nout 2\nout 3\n', err: 'err 1\nerr 2\nerr 3\n' });
  }),
  step('sessions: sends input to a command', async ({ sandbox: { process } }) => {
    const { cmdId } = await process.executeSessionCommand(session, {
      command: 'read -r line; echo "got $line"',
      runAsync: true,
    });
    await sleep(500);
    await process.sendSessionCommandInput(session, cmdId, 'a line\n');
    await until(async () => (await process.getSessionCommand(session, cmdId)).exitCode === 0);
    const { stdout } = await process.getSessionCommandLogs(session, cmdId);
    assert.match(stdout, /got a line/);
  }),
  step('sessions: is deleted with what runs in it', async ({ sandbox: { process } }) => {
    await process.executeSessionCommand(session, {
      command: 'exec -a compat-sleep sleep 600',
      runAsync: true,
    });
    await process.deleteSession(session);
    assert.ok(!(await process.listSessions()).some(({ sessionId }) => sessionId === session));
    const gone = async () =>
      (await process.executeCommand('pgrep -fc "^compat-[s]leep"')).result.trim() === '0';
    await until(gone);
  }),
  step('errors: a session that is not there has its class', async ({ sdk, sandbox: { process } }) => {
    const error = await rejection(process.getSession('no-such-session'));
    assert.ok(error instanceof sdk.DaytonaNotFoundError, `${error.name}: ${error.message}`);
  }),
];
