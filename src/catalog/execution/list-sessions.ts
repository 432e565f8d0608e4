/** Sandbox.ListSessions */
import { z } from 'zod';
import { defineTool } from '../base/tool.ts';
import { optionalSandbox } from '../parameters/sandbox.ts';
import { commandStatus, exitCodeOf, optionalExitCode, sessionStatus } from './parameters.ts';

export const listSessions = defineTool({
  name: 'Sandbox.ListSessions',
  title: 'List sessions',
  description:
    'Lists the active sessions of a sandbox, each with its newest commands first: command_id, command, ' +
    'status and, once ended, exit_code.',
  input: z.strictObject({ sandbox: optionalSandbox }),
  output: z.looseObject({
    sessions: z.array(
      z.looseObject({
        session_id: z.string(),
        status: sessionStatus,
        created_at: z.string(),
        recent_commands: z.array(
          z.looseObject({
            command_id: z.string(),
            command: z.string(),
            status: commandStatus,
            exit_code: optionalExitCode,
          }),
        ),
      }),
    ),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async handler({ sandbox }, { services, caller }) {
    const sessions = await services.sessions.list(caller, sandbox);
    return {
      sessions: sessions.map(({ sessionId, createdAtMs, recentCommands }) => ({
        session_id: sessionId,
        status: 'active' as const,
        created_at: new Date(createdAtMs).toISOString(),
        recent_commands: recentCommands.map(({ commandId, command, status, exitCode }) => ({
          command_id: commandId,
          command,
          status,
          ...exitCodeOf(exitCode),
        })),
      })),
    };
  },
});
