/** Sessions: shells that outlive a connection; the agent owns them, with their commands and logs. */
import { z } from 'zod';
import type { AgentSessions, SessionSummary } from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';
import type { Ask, Item } from './call.ts';
import { unavailable } from './faults.ts';
import { ProtocolError } from './frames.ts';
import { parseReply, rows } from './replies.ts';

/** Protocol version that introduced sessions. */
const v = 2;
/** Protocol version that introduced following. */
const FOLLOW_VERSION = 3;

const count = z.int().min(0);
/** Offset into a command's output; no sandbox prints this much. */
const offset = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
const milliseconds = z.int().min(0).max(8.64e15);
const id = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);
const state = z.enum(['queued', 'running', 'completed']);
const exitCode = z.int().min(0).max(255).nullable();
/** Includes the marker between the halves. */
const outputBytes = count.max(limits.outputBytes + 256);

const createReply = z.object({ created_ms: milliseconds });

const listReply = z.object({ busy: z.boolean(), idle_ms: milliseconds.nullable() });

const listItem = z.object({
  session_id: id,
  created_ms: milliseconds,
  recent_commands: rows(
    z.object({
      command_id: id,
      /** Counted in UTF-16 units here, in characters by the agent. */
      command: z.string().max(2 * limits.session.recentCommandChars),
      state,
      exit_code: exitCode,
    }),
    limits.session.recentCommands,
  ),
});

const outcome = {
  exit_code: exitCode,
  truncated: z.boolean(),
  stdout_bytes: outputBytes,
  stderr_bytes: outputBytes,
  output_bytes: outputBytes,
};
const runReply = z.object({ state: z.enum([...state.options, 'closed']), ...outcome });
const logsReply = z.object({ state, ...outcome, printed: offset.optional() });
const followReply = z.object({
  state,
  exit_code: exitCode,
  truncated: z.boolean(),
  next_offset: offset,
  output_bytes: outputBytes,
});

const inputReply = z.object({ state });

const dataBytes = (reply: z.output<typeof runReply>) =>
  reply.stdout_bytes + reply.stderr_bytes + reply.output_bytes;

export function sessionsOf(ask: Ask): AgentSessions {
  return {
    createSession: (sandbox, { sessionId, cwd, env }, signal) =>
      ask(
        sandbox,
        {
          request: { v, op: 'session_create', session_id: sessionId, cwd, env },
          timeoutMs: limits.session.startMs,
          reply: createReply,
          signal,
        },
        ({ reply }) => ({ createdAtMs: reply.created_ms }),
      ),

    listSessions: (sandbox, { timeoutMs = limits.helloTimeoutMs } = {}) =>
      ask(
        sandbox,
        {
          request: { v, op: 'session_list' },
          timeoutMs,
          reply: listReply,
          maxItems: limits.session.active,
        },
        ({ items, reply }) => ({
          sessions: items.map(summary),
          busy: reply.busy,
          idleMs: reply.idle_ms,
        }),
      ),

    runSessionCommand: (sandbox, request, signal) =>
      ask(
        sandbox,
        {
          request: {
            v,
            op: 'session_run',
            session_id: request.sessionId,
            command_id: request.commandId,
            command: request.command,
            wait_turn_ms: request.waitTurnMs,
            wait_run_ms: request.waitRunMs,
          },
          timeoutMs: request.waitTurnMs + request.waitRunMs + limits.execOverrunMs,
          timeoutError: () => unavailable("The sandbox's agent does not report on the command."),
          reply: runReply,
          dataBytes,
          signal,
        },
        ({ reply, data }) => ({
          status: reply.state,
          exitCode: checkedExitCode(reply),
          output: data.toString('utf8', reply.stdout_bytes + reply.stderr_bytes),
        }),
      ),

    sessionCommandLogs: (sandbox, sessionId, commandId) =>
      ask(
        sandbox,
        {
          request: { v, op: 'session_logs', session_id: sessionId, command_id: commandId },
          timeoutMs: limits.helloTimeoutMs,
          reply: logsReply,
          dataBytes,
        },
        ({ reply, data }) => ({
          status: reply.state,
          exitCode: checkedExitCode(reply),
          truncated: reply.truncated,
          nextOffset: reply.printed ?? null,
          stdout: data.toString('utf8', 0, reply.stdout_bytes),
          stderr: data.toString('utf8', reply.stdout_bytes, reply.stdout_bytes + reply.stderr_bytes),
          output: data.toString('utf8', reply.stdout_bytes + reply.stderr_bytes),
        }),
      ),

    followSessionCommand: (sandbox, request, signal) =>
      ask(
        sandbox,
        {
          request: {
            v: FOLLOW_VERSION,
            op: 'session_follow',
            session_id: request.sessionId,
            command_id: request.commandId,
            offset: request.offset,
            wait_ms: request.waitMs,
          },
          timeoutMs: request.waitMs + limits.execOverrunMs,
          timeoutError: () => unavailable("The sandbox's agent does not report on the command."),
          reply: followReply,
          dataBytes: ({ output_bytes }) => output_bytes,
          signal,
        },
        ({ reply, data }) => ({
          status: reply.state,
          exitCode: checkedExitCode(reply),
          truncated: reply.truncated,
          nextOffset: reply.next_offset,
          output: data.toString('utf8'),
        }),
      ),

    sendSessionInput: (sandbox, { sessionId, commandId, input }, signal) =>
      ask(
        sandbox,
        {
          request: { v, op: 'session_input', session_id: sessionId, command_id: commandId, input },
          timeoutMs: limits.session.inputMs,
          reply: inputReply,
          signal,
        },
        ({ reply }) => reply.state,
      ),
  };
}

function summary({ json }: Item): SessionSummary {
  const item = parseReply(listItem, json);
  return {
    sessionId: item.session_id,
    createdAtMs: item.created_ms,
    recentCommands: item.recent_commands.map((command) => ({
      commandId: command.command_id,
      command: command.command,
      status: command.state,
      exitCode: checkedExitCode(command),
    })),
  };
}

/** Rejects a reply unless exactly a completed command has an exit code. */
function checkedExitCode(reply: { state: string; exit_code: number | null }): number | null {
  if ((reply.state === 'completed') !== (reply.exit_code !== null)) {
    throw new ProtocolError('an exit code that does not go with the status');
  }
  return reply.exit_code;
}
