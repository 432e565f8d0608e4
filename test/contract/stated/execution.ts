/** Of docs/contract.md, "Code and commands" and "Sessions". */
import { optional, required, tool } from '../notation.ts';
import { environmentKeys } from './sandboxes.ts';

/** [A-Za-z0-9_-]{1,64} */
const idOfSession = {
  pattern: '^[A-Za-z0-9_-]{1,64}$',
  takes: ['s', 'build-2_A', 'x'.repeat(64)],
  refuses: ['', 'x'.repeat(65), 'a b', 'a.b', 'ä', 'a\n'],
};

export const execution = [
  tool('Sandbox.RunCode', {
    code: required.string,
    sandbox: optional.string,
    timeout_seconds: optional.integer({ min: 1, max: 300, default: 30 }),
  }),
  tool('Sandbox.RunCommand', {
    command: required.string,
    sandbox: optional.string,
    cwd: optional.string,
    env: optional.jsonWith(environmentKeys),
    timeout_seconds: optional.integer({ min: 1, max: 600, default: 60 }),
  }),
  tool('Sandbox.CreateSession', {
    sandbox: optional.string,
    session_id: optional.stringWith(idOfSession),
  }),
  tool('Sandbox.ListSessions', { sandbox: optional.string }),
  tool('Sandbox.RunSessionCommand', {
    session_id: required.stringWith(idOfSession),
    command: required.string,
    sandbox: optional.string,
    async_exec: optional.boolean({ default: false }),
  }),
  tool('Sandbox.GetSessionCommandLogs', {
    session_id: required.stringWith(idOfSession),
    command_id: required.string,
    sandbox: optional.string,
  }),
  tool('Sandbox.SendSessionInput', {
    session_id: required.stringWith(idOfSession),
    command_id: required.string,
    input: required.string,
    sandbox: optional.string,
  }),
];
