/** Logs of a session's command: what there is, and by a WebSocket what comes until its end. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { WebSocket } from 'ws';
import type { LiveOutput, LivePiece } from '../../../../control/ports/index.ts';
import type { Problem } from '../../../../model/errors.ts';
import { limits } from '../../../../model/limits.ts';
import { closeCodes, LiveSocket } from '../../../http/base/live-socket.ts';
import { type ServedSocket, type WebSockets, webSocketRoute } from '../../../http/base/web-sockets.ts';
import { sendJson } from '../../../http/routes/send.ts';
import { type DaytonaCall, type DaytonaDependencies, toCall } from '../../base/call.ts';
import { logsFor, markers, readsMarks } from '../../base/generation.ts';

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
