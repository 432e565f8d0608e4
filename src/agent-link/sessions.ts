/** Sessions: shells that outlive a connection; the agent owns them, with their commands and logs. */
import { z } from 'zod';
import type { AgentSessions, LivePiece, SessionSummary } from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';
import { OutputText } from '../model/output-text.ts';
import type { Ask, Item } from './call.ts';
import type { VersionOf } from './execution.ts';
import { ProtocolError } from './frames.ts';
import { emptyReply, milliseconds, parseReply, printedBytes, rows, unavailable } from './replies.ts';
import { fieldVersions } from './request.ts';
import { MAX_TURNS, splitByTurns } from './turns.ts';

const count = z.int().min(0);
/** Offset into a command's output. */
const offset = printedBytes;
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

const rawReply = followReply.extend({
  left_out: offset,
  left_out_at: count.max(limits.outputBytes),
  turns: rows(offset, MAX_TURNS).optional(),
});

const inputReply = z.object({ state });

const dataBytes = (reply: z.output<typeof runReply>) =>
  reply.stdout_bytes + reply.stderr_bytes + reply.output_bytes;

export function sessionsOf(ask: Ask, versionOf: VersionOf): AgentSessions {
  const follow = (request: Followed, signal: AbortSignal | undefined) => ({
    request: {
      op: 'session_follow' as const,
      session_id: request.sessionId,
      command_id: request.commandId,
      offset: request.offset,
      wait_ms: request.waitMs,
    },
    timeoutMs: request.waitMs + limits.execOverrunMs,
    timeoutError: () => unavailable("The sandbox's agent does not report on the command."),
    dataBytes: ({ output_bytes }: FollowReply) => output_bytes,
    signal,
  });
  return {
    createSession: (sandbox, { user, sessionId, cwd, env }, signal) =>
      ask(
        sandbox,
        {
          request: { op: 'session_create', user, session_id: sessionId, cwd, env },
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
          request: { op: 'session_list' },
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

    deleteSession: (sandbox, sessionId, signal) =>
      ask(
        sandbox,
        {
          request: { op: 'session_delete', session_id: sessionId },
          timeoutMs: limits.session.startMs,
          reply: emptyReply,
          signal,
        },
        () => {},
      ),

    runSessionCommand: (sandbox, request, signal) =>
      ask(
        sandbox,
        {
          request: {
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
          request: { op: 'session_logs', session_id: sessionId, command_id: commandId },
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
      ask(sandbox, { ...follow(request, signal), reply: followReply }, ({ reply, data }) => ({
        ...followed(reply),
        output: data.toString('utf8'),
      })),

    followSessionBytes: async (sandbox, request, signal) => {
      const asked = follow(request, signal);
      const version = await versionOf(sandbox, request.generation).catch(() => 0);
      if (version < fieldVersions.raw) {
        return ask(sandbox, { ...asked, reply: followReply }, ({ reply, data }) => ({
          ...followed(reply),
          output: data.toString('utf8'),
          pieces: reply.truncated
            ? [piece(Buffer.alloc(0), Math.max(0, reply.next_offset - request.offset))]
            : [piece(data, 0)],
        }));
      }
      const streams = request.streams && version >= fieldVersions.streams ? { streams: true } : {};
      const raw = { ...asked.request, raw: true, ...streams };
      return ask(sandbox, { ...asked, request: raw, reply: rawReply }, ({ reply, data }) => {
        const gapAt = reply.left_out_at;
        if (gapAt > data.length) throw new ProtocolError('a gap behind the end of the output');
        const pieces = [piece(data.subarray(0, gapAt), 0), piece(data.subarray(gapAt), reply.left_out)];
        const { turns } = reply;
        return {
          ...{ ...followed(reply), output: textOf(pieces) },
          pieces: turns ? splitByTurns(pieces, turns) : pieces,
        };
      });
    },

    sendSessionInput: (sandbox, { sessionId, commandId, input, asIs }, signal) =>
      ask(
        sandbox,
        {
          request: {
            ...{ op: 'session_input' as const, session_id: sessionId, command_id: commandId, input },
            ...(asIs ? { as_is: true } : {}),
          },
          timeoutMs: limits.session.inputMs,
          reply: inputReply,
          signal,
        },
        ({ reply }) => reply.state,
      ),
  };
}

type Followed = Parameters<AgentSessions['followSessionCommand']>[1];
type FollowReply = z.output<typeof followReply>;

function followed(reply: FollowReply) {
  return {
    status: reply.state,
    exitCode: checkedExitCode(reply),
    truncated: reply.truncated,
    nextOffset: reply.next_offset,
  };
}

function piece(bytes: Buffer, leftOutBytes: number): LivePiece {
  return { stream: 'stdout', bytes, leftOutBytes };
}

/** Returns the text that an agent makes of such output. */
function textOf(pieces: LivePiece[]): string {
  const decoded = new OutputText();
  const text = pieces.map((piece) => withGap(decoded.of(piece)));
  return [...text, withGap(decoded.restOf('stdout'))].join('');
}

function withGap({ text, leftOutBytes }: { text: string; leftOutBytes: number }): string {
  return leftOutBytes > 0 ? `\n[… ${leftOutBytes} bytes left out …]\n${text}` : text;
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
