/** Contexts of an interpreter, and code in one by a WebSocket: the first message is the code, the others what it prints. */
import type { FastifyInstance } from 'fastify';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import { contextId } from '../../../../catalog/base/context-view.ts';
import { environment } from '../../../../catalog/parameters/scalars.ts';
import { validateInput } from '../../../../catalog/validate.ts';
import type { ContextResult, LiveOutput, LivePiece } from '../../../../control/ports/index.ts';
import { invalidArgument, notFound, type Problem } from '../../../../model/errors.ts';
import { limits } from '../../../../model/limits.ts';
import { OutputText } from '../../../../model/output-text.ts';
import { closeCodes, LiveSocket } from '../../../http/base/live-socket.ts';
import { type ServedSocket, type WebSockets, webSocketRoute } from '../../../http/base/web-sockets.ts';
import type { DaytonaCall, DaytonaDependencies, DaytonaRoute } from '../../base/call.ts';

const CONTEXT = '/process/interpreter/context';
/** The context of code that names none, which no list has. */
const SHARED = 'daytona';
const OVER_TIME = 4008;
const RUN = 'Sandbox.RunInContext';
const asked = { opened: RUN, closed: RUN, scope: 'sandboxes:write' as const };
const { max: mostSeconds } = limits.context.timeoutSeconds;

export const interpreterRoutes: readonly DaytonaRoute[] = [
  { method: 'POST', path: CONTEXT, handler: create },
  { method: 'GET', path: CONTEXT, handler: list },
  { method: 'DELETE', path: `${CONTEXT}/:id`, handler: remove },
];

/** 0 is no bound to these clients. */
const wanted = z.object({
  code: z.string(),
  contextId: contextId.nullish(),
  envs: environment().nullish(),
  timeout: z.int().min(0).nullish(),
});

async function create(call: DaytonaCall): Promise<unknown> {
  const { sandbox } = call.params;
  const { cwd, language = 'python' } = call.body;
  return toContext(await call.action('CreateContext', { sandbox, cwd, language }));
}

async function list(call: DaytonaCall): Promise<unknown> {
  const { contexts } = await call.action('ListContexts', { sandbox: call.params['sandbox'] });
  const shown = (contexts as Record<string, unknown>[]).filter(({ context }) => context !== SHARED);
  return { contexts: shown.map(toContext) };
}

async function remove(call: DaytonaCall): Promise<unknown> {
  const { sandbox, id } = call.params;
  await call.action('DeleteContext', { sandbox, context: id });
  return { message: 'The context is deleted.' };
}

function toContext({ context, cwd, language, created_at, ended }: Record<string, unknown>) {
  return { id: context, active: ended === null, cwd, language, createdAt: created_at };
}

export function addInterpreterSocket(
  app: FastifyInstance,
  root: string,
  { parts, sockets }: { parts: DaytonaDependencies; sockets: WebSockets },
): void {
  const { contexts } = parts.services;
  app.get(`${root}/process/interpreter/execute`, webSocketRoute, (request, reply) => {
    if (!sockets.isAskedFor(request)) {
      throw invalidArgument('Upgrade', 'Code runs on a WebSocket.', 'Open it with a WebSocket client.');
    }
    const { sandbox = '' } = request.params as Record<string, string>;
    return sockets.serve(request, reply, asked, async (visit) => {
      // Refuses a sandbox that is not there, while it still can.
      const known = await contexts.list(request.caller, sandbox);
      const socket = visit.open((connection) => new InterpreterSocket(connection));
      const first = await socket?.first;
      if (!socket || !first) return;
      const { code, contextId: id, envs, timeout } = validateInput(wanted, parsed(first));
      if (id && !known.some(({ contextId: one }) => one === id)) {
        throw notFound('context', `There is no context '${id}'.`, 'Create it first.');
      }
      const timeoutMs = Math.min(timeout || mostSeconds, mostSeconds) * 1_000;
      const run = { code, contextId: id ?? SHARED, ...(id ? {} : { language: 'python' as const }) };
      const request_ = { ...run, env: envs ?? {}, timeoutMs, live: socket };
      socket.end(await contexts.run(request.caller, sandbox, request_, visit.gone));
    });
  });
}

function parsed(message: Buffer): unknown {
  try {
    return JSON.parse(message.toString());
  } catch {
    throw invalidArgument('message', 'The first message must be JSON.');
  }
}

class InterpreterSocket implements ServedSocket, LiveOutput {
  readonly whole = true;
  readonly #socket: LiveSocket;
  readonly #first = Promise.withResolvers<Buffer>();
  readonly #decoded = new OutputText();
  #room = Promise.withResolvers<void>();

  constructor(socket: WebSocket) {
    this.#socket = new LiveSocket(socket, {
      message: (data) => this.#first.resolve(data),
      hasRoom: () => {
        this.#room.resolve();
        this.#room = Promise.withResolvers();
      },
    });
  }

  /** The first message; null where the client leaves before it. */
  get first(): Promise<Buffer | null> {
    return Promise.race([this.#first.promise, this.#socket.left]);
  }

  get closed(): Promise<void> {
    return this.#socket.closed;
  }

  show(piece: LivePiece): Promise<void> | undefined {
    const { text } = this.#decoded.of(piece);
    if (text === '' || this.#socket.say({ type: piece.stream, text })) return undefined;
    return Promise.race([this.#room.promise, this.#socket.left.then(() => {})]);
  }

  end({ error, end, timedOut }: ContextResult): void {
    if (timedOut) {
      this.close(OVER_TIME, 'The code was interrupted at its timeout.');
      return;
    }
    const cause = end && { name: 'ContextEnded', value: end, traceback: '' };
    const raised = error ?? cause;
    if (raised) this.#socket.say({ type: 'error', ...raised });
    const interrupted = error?.name === 'KeyboardInterrupt';
    this.#socket.say({ type: 'control', text: interrupted ? 'interrupted' : 'completed' });
    this.close(closeCodes.normal, '');
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
}
