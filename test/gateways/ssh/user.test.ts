/** The user whom a client works as: programs, and SFTP, get it; the account of root is root's alone. */
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import type { Connection, Session } from 'ssh2';
import { expect, it } from 'vitest';
import type { AgentProcesses, AsUser, ProcessRequest } from '../../../src/control/ports/index.ts';
import { serveSession } from '../../../src/gateways/ssh/worker/session.ts';
import { SandhavenError } from '../../../src/model/errors.ts';

/** Returns what the agent is asked for. */
async function asked(user: string | undefined, request: string, info: object): Promise<AsUser[]> {
  const requests: AsUser[] = [];
  const refuse = async (_key: string, asked: AsUser = {}) => {
    requests.push(asked);
    throw new SandhavenError('unavailable', 'It is no real one.');
  };
  const session = new EventEmitter();
  const programs = new Set<Promise<void>>();
  void serveSession(session as unknown as Session, {
    ...{ user, key: 'guest-1', env: { PATH: '/bin' }, refusal: null, programs },
    connection: {} as Connection,
    stream: new PassThrough(),
    agent: { openProcess: refuse, openSftp: refuse } as AgentProcesses,
    gone: new Promise(() => {}),
  });
  const stderr = new PassThrough().resume();
  const channel = Object.assign(new PassThrough(), { stderr, exit() {}, incoming: { window: 0 } });
  session.emit(
    request,
    () => channel,
    () => {},
    info,
  );
  await Promise.all(programs);
  return requests;
}

const ssh = { SSH_CLIENT: '127.0.0.1 0 22', SSH_CONNECTION: '127.0.0.1 0 127.0.0.1 22' };
const program: Omit<ProcessRequest, 'env'> = { argv: ['bash', '-c', 'id'], cwd: '.' };

it('a program begins in the base of relative paths, as the user, whose account the agent adds', async () => {
  expect(await asked('ann', 'exec', { command: 'id' })).toEqual([
    { ...program, user: 'ann', env: { PATH: '/bin', ...ssh } },
  ]);
  const root = { USER: 'root', LOGNAME: 'root', SHELL: '/bin/bash' };
  expect(await asked(undefined, 'exec', { command: 'id' })).toEqual([
    { ...program, env: { ...root, PATH: '/bin', ...ssh } },
  ]);
});

it('SFTP is of the user too', async () => {
  expect(await asked('ann', 'subsystem', { name: 'sftp' })).toEqual([{ user: 'ann' }]);
});
