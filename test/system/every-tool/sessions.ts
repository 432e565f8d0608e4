/** The five tools of sessions: one that asks, is answered, and is read. */
import { expect } from 'vitest';
import type { Walk } from './walk.ts';

export const sessions: Walk = async (ok) => {
  const created = await ok('CreateSession', { session_id: 'walk' });
  expect(created).toMatchObject({ session_id: 'walk', status: 'active' });
  const asked = await ok('RunSessionCommand', {
    session_id: 'walk',
    command: 'read -r answer; echo "got $answer"',
    async_exec: true,
  });
  expect(asked).toMatchObject({ status: 'running', output: '' });
  const command = { session_id: 'walk', command_id: asked['command_id'] };
  expect(await ok('SendSessionInput', { ...command, input: 'it' })).toMatchObject({ ...command, sent: true });
  expect(await ok('RunSessionCommand', { session_id: 'walk', command: 'echo $answer' })).toMatchObject({
    status: 'completed',
    exit_code: 0,
    output: 'it\n',
  });
  expect(await ok('GetSessionCommandLogs', command)).toMatchObject({
    status: 'completed',
    exit_code: 0,
    stdout: 'got it\n',
    stderr: '',
  });
  expect(await ok('ListSessions')).toMatchObject({ sessions: [{ session_id: 'walk', status: 'active' }] });
  expect(await ok('RunSessionCommand', { session_id: 'walk', command: 'exit 3' })).toMatchObject({
    exit_code: 3,
  });
};
