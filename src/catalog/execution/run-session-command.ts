/** Sandbox.RunSessionCommand */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import { optionalSandbox } from '../parameters/sandbox.ts';
import { atMostBytes, textWithoutNul } from '../parameters/scalars.ts';
import {
  commandPrinted,
  commandStatus,
  commandText,
  exitCodeOf,
  optionalExitCode,
  sessionId,
} from './parameters.ts';

export const runSessionCommand = defineTool({
  name: 'Sandbox.RunSessionCommand',
  title: 'Run a command in a session',
  description:
    'Runs a command in a session, after those before it. Returns output and, once ended, exit_code; ' +
    'otherwise status queued or running: read on with GetSessionCommandLogs. async_exec: return ' +
    'at once with status running, for servers and what asks for input. invalid_state: the session is closed.',
  input: z.strictObject({
    session_id: sessionId,
    command: textWithoutNul().min(1).check(atMostBytes(limits.commandBytes)).meta({
      description: 'Shell command line; several lines work. exit ends the session.',
      sensitive: true,
    }),
    sandbox: optionalSandbox,
    async_exec: z.boolean().default(false).describe('Do not wait for its end (default false).'),
  }),
  output: z.looseObject({
    session_id: z.string(),
    command_id: z.string(),
    status: commandStatus,
    exit_code: optionalExitCode,
    output: z.string(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  long: true,
  live: true,
  async handler({ session_id, command, sandbox, async_exec }, { services, caller, signal, live }) {
    const request = { sessionId: session_id, command, wait: !async_exec, ...withoutUndefined({ live }) };
    const { commandId, status, exitCode, output } = await services.sessions.run(
      caller,
      sandbox,
      request,
      signal,
    );
    const names = { session_id, command_id: commandId };
    // A caller that does not wait gets the same answer, whatever has happened since.
    if (async_exec) return { ...names, status: 'running' as const, output };
    return { ...names, status, ...exitCodeOf(exitCode), output };
  },
  printed: commandPrinted,
  text: commandText,
});
