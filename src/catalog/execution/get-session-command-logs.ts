/** Sandbox.GetSessionCommandLogs */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import { optionalSandbox } from '../parameters/sandbox.ts';
import { optionalInteger } from '../parameters/scalars.ts';
import {
  commandId,
  commandPrinted,
  commandStatus,
  commandText,
  exitCodeOf,
  optionalExitCode,
  sessionId,
  waitSeconds,
} from './parameters.ts';

const nothing = { stdout: '', stderr: '' };

export const getSessionCommandLogs = defineTool({
  name: 'Sandbox.GetSessionCommandLogs',
  title: 'Get logs of a session command',
  description:
    'Returns what a session command has printed so far: output (as it came), stdout, stderr, status ' +
    'and, once ended, exit_code. To follow a running command, give next_offset as offset: output then ' +
    'holds only what is new, stdout and stderr nothing. truncated: the middle of a long log is left ' +
    'out. Kept while the sandbox is stopped.',
  input: z.strictObject({
    session_id: sessionId,
    command_id: commandId,
    sandbox: optionalSandbox,
    offset: optionalInteger('Bytes of output to skip', limits.session.followOffset),
    wait_seconds: waitSeconds('Seconds to wait for its end or, with offset, for more output'),
  }),
  output: z.looseObject({
    session_id: z.string(),
    command_id: z.string(),
    status: commandStatus,
    exit_code: optionalExitCode,
    output: z.string(),
    stdout: z.string(),
    stderr: z.string(),
    truncated: z.boolean(),
    next_offset: z.int().nullable(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async handler({ session_id, command_id, sandbox, offset, wait_seconds }, context) {
    const { services, caller, signal, live } = context;
    const command = { sessionId: session_id, commandId: command_id, waitMs: wait_seconds * 1_000 };
    const { status, exitCode, nextOffset, ...printed } =
      offset === undefined
        ? await services.sessions.logs(caller, sandbox, command, signal)
        : {
            ...(await services.sessions.follow(
              caller,
              sandbox,
              { ...command, offset, ...withoutUndefined({ live }) },
              signal,
            )),
            ...nothing,
          };
    const names = { session_id, command_id, status, ...exitCodeOf(exitCode) };
    return { ...names, ...printed, next_offset: nextOffset };
  },
  printed: commandPrinted,
  text: commandText,
});
