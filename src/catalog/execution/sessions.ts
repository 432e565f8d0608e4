/** Tools of sessions, shells that stay: their commands, their input and their logs. */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import { asUser, optionalSandbox } from '../parameters/sandbox.ts';
import { atMostBytes, optionalInteger, text, textWithoutNul } from '../parameters/scalars.ts';
import {
  commandId,
  commandPrinted,
  commandStatus,
  commandText,
  exitCodeOf,
  newSessionId,
  optionalExitCode,
  sessionId,
  sessionStatus,
  waitSeconds,
} from './parameters.ts';

export const createSession = defineTool({
  name: 'Sandbox.CreateSession',
  title: 'Create a session',
  description:
    'Opens a bash that stays: directory, variables and functions persist between its commands, which ' +
    'may run in the background and take input. Returns session_id for RunSessionCommand. For one-off ' +
    'commands use RunCommand.',
  input: z.strictObject({ sandbox: optionalSandbox, session_id: newSessionId, user: asUser }),
  output: z.looseObject({ session_id: z.string(), status: sessionStatus, created_at: z.string() }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  async handler({ sandbox, session_id: sessionId, user }, { services, caller, signal }) {
    const session = await services.sessions.create(caller, sandbox, { sessionId, user }, signal);
    return {
      session_id: session.sessionId,
      status: 'active' as const,
      created_at: new Date(session.createdAtMs).toISOString(),
    };
  },
});

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

export const sendSessionInput = defineTool({
  name: 'Sandbox.SendSessionInput',
  title: 'Send input to a session command',
  description:
    'Types a line into a running session command, as at a terminal that does not echo: answers, ' +
    'passwords. A newline is appended. \\u0004 is end of input, \\u0003 interrupts the command and ends ' +
    'the session. invalid_state: the command has ended or is queued.',
  input: z.strictObject({
    session_id: sessionId,
    command_id: commandId,
    input: text()
      .check(atMostBytes(limits.session.inputBytes))
      .meta({ description: 'The line, without its newline.', sensitive: true }),
    sandbox: optionalSandbox,
    wait_seconds: waitSeconds('Seconds to wait for what it prints next'),
  }),
  output: z.looseObject({
    session_id: z.string(),
    command_id: z.string(),
    sent: z.literal(true),
    status: commandStatus.optional(),
    exit_code: optionalExitCode,
    output: z.string().optional(),
    next_offset: z.int().optional(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  async handler({ session_id, command_id, input, sandbox, wait_seconds }, { services, caller, signal }) {
    const waitMs = wait_seconds * 1_000;
    const request = { sessionId: session_id, commandId: command_id, input, waitMs };
    const followed = await services.sessions.sendInput(caller, sandbox, request, signal);
    const sent = { session_id, command_id, sent: true as const };
    if (followed === null) return sent;
    const { status, exitCode, output, nextOffset } = followed;
    return { ...sent, status, ...exitCodeOf(exitCode), output, next_offset: nextOffset };
  },
  text: ({ command_id, status, output = '', ...followed }) =>
    status === undefined
      ? `Sent to ${command_id}.`
      : commandText({ command_id, status, output, ...followed }),
});

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
