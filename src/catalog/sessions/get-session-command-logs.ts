/** Sandbox.GetSessionCommandLogs */
import { z } from 'zod';
import { optionalSandbox } from '../parameters/sandbox.ts';
import { defineTool } from '../tool.ts';
import {
  commandId,
  commandStatus,
  commandText,
  exitCodeOf,
  optionalExitCode,
  sessionId,
} from './parameters.ts';

export const getSessionCommandLogs = defineTool({
  name: 'Sandbox.GetSessionCommandLogs',
  title: 'Get logs of a session command',
  description:
    'Returns what a session command has printed so far: output (as it came), stdout, stderr, status ' +
    'and, once ended, exit_code. Call it again to follow a running command. truncated: the middle of a ' +
    'long log is left out. not_found: too old, or the sandbox was stopped.',
  input: z.strictObject({ session_id: sessionId, command_id: commandId, sandbox: optionalSandbox }),
  output: z.looseObject({
    session_id: z.string(),
    command_id: z.string(),
    status: commandStatus,
    exit_code: optionalExitCode,
    output: z.string(),
    stdout: z.string(),
    stderr: z.string(),
    truncated: z.boolean(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async handler({ session_id, command_id, sandbox }, { services, caller }) {
    const logs = await services.sessions.logs(caller, sandbox, session_id, command_id);
    const { status, exitCode, output, stdout, stderr, truncated } = logs;
    return { session_id, command_id, status, ...exitCodeOf(exitCode), output, stdout, stderr, truncated };
  },
  text: commandText,
});
