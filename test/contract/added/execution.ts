/** The project's own parameters and bounds of execution and session tools. */
import { addition, optional } from '../notation.ts';
import { environment, path, reference, user } from './common.ts';

/** 127 KiB: one argument of bash -c. */
const command = { minChars: 1, maxBytes: 130_048 };

const commandId = {
  pattern: '^[A-Za-z0-9_-]{1,64}$',
  takes: ['cmd_1', 'x'.repeat(64)],
  refuses: ['', 'x'.repeat(65), 'a b'],
};

const waitSeconds = optional.integer({ min: 0, max: 60, default: 0 });

export const executionAdditions = [
  // 4 MiB.
  addition('Sandbox.RunCode', { code: { minChars: 1, maxBytes: 4_194_304 }, sandbox: reference, user }),
  addition('Sandbox.RunCommand', { command, sandbox: reference, user, cwd: path, env: environment }),
  addition('Sandbox.CreateSession', { sandbox: reference, user }),
  addition('Sandbox.ListSessions', { sandbox: reference }),
  addition('Sandbox.RunSessionCommand', { command, sandbox: reference }),
  addition('Sandbox.GetSessionCommandLogs', {
    command_id: commandId,
    sandbox: reference,
    // 2 ** 52
    offset: optional.integer({ min: 0, max: 4_503_599_627_370_496 }),
    wait_seconds: waitSeconds,
  }),
  addition('Sandbox.SendSessionInput', {
    command_id: commandId,
    // 64 KiB.
    input: { maxBytes: 65_536 },
    sandbox: reference,
    wait_seconds: waitSeconds,
  }),
];
