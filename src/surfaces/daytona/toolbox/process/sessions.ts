/** Sessions, and the commands in them. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import { atMostBytes, text } from '../../../../catalog/parameters/scalars.ts';
import { validateInput } from '../../../../catalog/validate.ts';
import type { LiveOutput, LivePiece } from '../../../../control/ports/index.ts';
import { notFound, type Problem } from '../../../../model/errors.ts';
import { limits } from '../../../../model/limits.ts';
import { closeCodes, LiveSocket } from '../../../http/base/live-socket.ts';
import { type ServedSocket, type WebSockets, webSocketRoute } from '../../../http/base/web-sockets.ts';
import { sendJson } from '../../../http/routes/send.ts';
import {
  audited,
  type DaytonaCall,
  type DaytonaDependencies,
  type DaytonaRoute,
  toCall,
} from '../../base/call.ts';
import { logsFor, markers, readsMarks } from '../../base/generation.ts';

const SESSIONS = '/process/session';

export const sessionRoutes: readonly DaytonaRoute[] = [
  { method: 'POST', path: SESSIONS, status: 201, handler: create },
  { method: 'GET', path: SESSIONS, handler: list },
  { method: 'GET', path: `${SESSIONS}/entrypoint`, handler: findEntrypoint },
  { method: 'GET', path: `${SESSIONS}/:session`, handler: find },
  { method: 'DELETE', path: `${SESSIONS}/:session`, status: 204, handler: remove },
  { method: 'POST', path: `${SESSIONS}/:session/exec`, handler: run },
  { method: 'GET', path: `${SESSIONS}/:session/command/:command`, handler: findCommand },
  { method: 'POST', path: `${SESSIONS}/:session/command/:command/input`, status: 204, handler: typeInput },
];

async function create(call: DaytonaCall): Promise<unknown> {
  const { sandbox } = call.params;
  const { session_id } = await call.tool('Sandbox.CreateSession', {
    ...{ sandbox, session_id: call.body['sessionId'] },
  });
  return { sessionId: session_id };
}

async function list(call: DaytonaCall): Promise<unknown> {
  return (await sessionsOf(call)).map(toSession);
}

async function find(call: DaytonaCall): Promise<unknown> {
  return toSession(await sessionOf(call));
}

/** No sandbox has a session of its entrypoint, whose output is discarded. */
async function findEntrypoint(call: DaytonaCall): Promise<unknown> {
  await sessionsOf(call);
  return { sessionId: 'entrypoint', commands: [] };
}

async function remove(call: DaytonaCall): Promise<void> {
  const { sandbox, session } = call.params;
  await call.action('DeleteSession', { sandbox, session_id: session });
}

async function run(call: DaytonaCall): Promise<unknown> {
  const { sandbox, session } = call.params;
  const { command, runAsync, async } = call.body;
  const { command_id, status, exit_code } = await call.tool('Sandbox.RunSessionCommand', {
    ...{ sandbox, session_id: session, command, async_exec: runAsync === true || async === true },
  });
  // The longest wait ends too, and the command goes on.
  if (status !== 'completed') return call.reply.code(202).send({ cmdId: command_id });
  const logs = await call.tool('Sandbox.GetSessionCommandLogs', { sandbox, session_id: session, command_id });
  const { stdout, stderr } = logs;
  const { output } = logsFor(call.request, logs);
  return sendJson(
    call.reply,
    { cmdId: command_id, output, stdout, stderr, exitCode: exit_code },
    call.signal,
  );
}

async function findCommand(call: DaytonaCall): Promise<unknown> {
  const { sandbox, session, command } = call.params;
  const known = (await sessionOf(call)).recent_commands.find(({ command_id }) => command_id === command);
  if (known) return toCommand(known);
  // The list has the newest, and nothing has the text of an older one.
  const { exit_code } = await call.tool('Sandbox.GetSessionCommandLogs', {
    ...{ sandbox, session_id: session, command_id: command, offset: limits.session.followOffset.max },
  });
  return toCommand({ command_id: command, command: '', exit_code });
}

const typed = z.object({
  data: text().check(atMostBytes(limits.session.inputBytes)).meta({ sensitive: true }),
});

/** Data that end in a newline are a line, which every agent types; others need one that types them as they are. */
async function typeInput(call: DaytonaCall): Promise<void> {
  const { sandbox, session = '', command = '' } = call.params;
  const { data } = validateInput(typed, call.body);
  const isLine = data.endsWith('\n');
  const input = { input: isLine ? data.slice(0, -1) : data, asIs: !isLine, waitMs: 0 };
  const { services, request, signal } = call;
  await audited(call, { action: 'Sandbox.SendSessionInput', scope: 'sandboxes:write' }, () =>
    services.sessions.sendInput(
      request.caller,
      sandbox,
      { sessionId: session, commandId: command, ...input },
      signal,
    ),
  );
}

interface Listed {
  session_id: string;
  /** Newest first. */
  recent_commands: Record<'command_id' | 'command' | 'exit_code', unknown>[];
}

async function sessionsOf(call: DaytonaCall): Promise<Listed[]> {
  const { sessions } = await call.tool('Sandbox.ListSessions', { sandbox: call.params['sandbox'] });
  return sessions as Listed[];
}

async function sessionOf(call: DaytonaCall): Promise<Listed> {
  const { session } = call.params;
  const found = (await sessionsOf(call)).find(({ session_id }) => session_id === session);
  if (found) return found;
  throw notFound('session', `There is no active session '${session}'.`, 'Create it first.');
}

function toSession({ session_id, recent_commands }: Listed): object {
  return { sessionId: session_id, commands: recent_commands.map(toCommand).reverse() };
}

/** Clients wait until there is an exit code, and null would be one to them. */
function toCommand({ command_id, command, exit_code }: Listed['recent_commands'][number]): object {
  return { id: command_id, command, ...(exit_code === undefined ? {} : { exitCode: exit_code }) };
}

// Logs of a session's command: what there is, and by a WebSocket what comes until its end.

const LOGS = 'Sandbox.GetSessionCommandLogs';
const asked = { opened: LOGS, closed: LOGS, scope: 'sandboxes:read' as const };

export function addLogRoutes(
  app: FastifyInstance,
  root: string,
  { parts, sockets }: { parts: DaytonaDependencies; sockets: WebSockets },
): void {
  const { services } = parts;
  app.get(`${root}/process/session/:session/command/:command/logs`, webSocketRoute, (request, reply) => {
    if (!sockets.isAskedFor(request)) return answerLogs(toCall(request, reply, parts));
    const { sandbox = '', session = '', command = '' } = request.params as Record<string, string>;
    const read: Read = (from, signal) =>
      services.sessions.follow(
        request.caller,
        sandbox,
        { sessionId: session, commandId: command, ...from },
        signal,
      );
    return sockets.serve(request, reply, asked, async (visit) => {
      // Refuses what is not there, while it still can.
      await read({ offset: limits.session.followOffset.max, waitMs: 0 }, visit.gone);
      const socket = visit.open((connection) => new LogSocket(connection));
      await socket?.follow(read);
    });
  });
  app.get(`${root}/process/session/entrypoint/logs`, webSocketRoute, (request, reply) => {
    const call = toCall(request, reply, parts);
    const exists = () => call.tool('Sandbox.ListSessions', { sandbox: call.params['sandbox'] });
    if (!sockets.isAskedFor(request)) return exists().then(() => answer(call, noLogs));
    return sockets.serve(request, reply, asked, async (visit) => {
      await exists();
      visit.open((connection) => new LogSocket(connection))?.end();
    });
  });
}

const noLogs = { output: '', stdout: '', stderr: '' };

async function answerLogs(call: DaytonaCall): Promise<unknown> {
  const { sandbox, session, command } = call.params;
  return answer(call, await call.tool(LOGS, { sandbox, session_id: session, command_id: command }));
}

function answer({ request, reply, signal }: DaytonaCall, logs: Record<string, unknown>): Promise<unknown> {
  const printed = logsFor(request, logs);
  if (!readsMarks(request)) return sendJson(reply, printed, signal);
  return Promise.resolve(reply.type('text/plain; charset=utf-8').send(printed.output));
}

/** Reads the log from an offset on. */
type Read = (
  from: { offset: number; waitMs: number; live?: LiveOutput; streams?: boolean },
  signal: AbortSignal,
) => Promise<{ status: string; nextOffset: number; output: string }>;

/** Binary messages, each a piece of output behind the mark of its stream. */
class LogSocket implements ServedSocket {
  readonly #socket: LiveSocket;
  #room = Promise.withResolvers<void>();

  constructor(socket: WebSocket) {
    this.#socket = new LiveSocket(socket, {
      message() {},
      hasRoom: () => {
        this.#room.resolve();
        this.#room = Promise.withResolvers();
      },
    });
  }

  get closed(): Promise<void> {
    return this.#socket.closed;
  }

  /** Resolves at the end of the command, or when the client has left. */
  async follow(read: Read): Promise<void> {
    const left = new AbortController();
    void this.#socket.left.then(() => left.abort());
    try {
      for (let offset = 0; ; ) {
        const { status, nextOffset } = await this.#take(read, offset, left.signal);
        if (status === 'completed' || nextOffset < offset) return this.end();
        offset = nextOffset;
        // Neither a command that prints without a pause nor a hostile agent makes this a busy loop.
        await sleep(limits.live.followRetryMs, undefined, { signal: left.signal });
      }
    } catch (error) {
      if (!left.signal.aborted) throw error;
    }
  }

  end(): void {
    this.close(closeCodes.normal, 'The command has ended.');
  }

  fail(problem: Problem): void {
    this.#socket.fail(problem);
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  /** The log of a stopped sandbox is kept as text alone. */
  async #take(read: Read, offset: number, signal: AbortSignal): ReturnType<Read> {
    let isShown = false;
    const show = (piece: LivePiece) => {
      isShown = true;
      return this.#show(piece);
    };
    const from = { offset, waitMs: limits.live.followMs, live: { whole: true, show }, streams: true };
    const followed = await read(from, signal);
    if (!isShown && followed.output !== '') {
      await this.#show({ stream: 'stdout', bytes: Buffer.from(followed.output), leftOutBytes: 0 });
    }
    return followed;
  }

  #show({ stream, bytes, leftOutBytes }: LivePiece): Promise<void> | undefined {
    const gap = leftOutBytes > 0 ? `\n[… ${leftOutBytes} bytes left out …]\n` : '';
    const message = Buffer.concat([Buffer.from(markers[stream] + gap), bytes]);
    if (this.#socket.send(message, { binary: true })) return undefined;
    return Promise.race([this.#room.promise, this.#socket.left.then(() => {})]);
  }
}
