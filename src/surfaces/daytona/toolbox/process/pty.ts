/**
 * Terminals. They have no viewer of their own size here, since the clients resize them by a request: a viewer who comes with
 * a size and leaves gives it to the terminal.
 */
import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import { terminalId } from '../../../../catalog/parameters/sandbox.ts';
import { environment, path } from '../../../../catalog/parameters/scalars.ts';
import { validateInput } from '../../../../catalog/validate.ts';
import type { ProcessEnd, TerminalSink, TerminalView } from '../../../../control/ports/index.ts';
import type { Services } from '../../../../control/services.ts';
import type { LookRequest } from '../../../../control/work/terminals.ts';
import { auditActions } from '../../../../model/audit.ts';
import { invalidArgument, notFound, type Problem, SandhavenError } from '../../../../model/errors.ts';
import { limits } from '../../../../model/limits.ts';
import { closeCodes, LiveSocket } from '../../../http/base/live-socket.ts';
import { type ServedSocket, type WebSockets, webSocketRoute } from '../../../http/base/web-sockets.ts';
import { audited, type DaytonaCall, type DaytonaDependencies, type DaytonaRoute } from '../../base/call.ts';

const PTY = '/process/pty';

export const ptyRoutes: readonly DaytonaRoute[] = [
  { method: 'POST', path: PTY, status: 201, handler: create },
  { method: 'GET', path: PTY, handler: list },
  { method: 'GET', path: `${PTY}/:id`, handler: find },
  { method: 'DELETE', path: `${PTY}/:id`, handler: remove },
  { method: 'POST', path: `${PTY}/:id/resize`, handler: resize },
];

/** Subprotocols that carry more than a name. */
const ENVIRONMENT = 'X-Daytona-Pty-Envs~';
const READS_END = 'X-Daytona-Pty-Exit-Control';

const cells = {
  cols: z.coerce.number().pipe(z.int().min(limits.terminal.columns.min).max(limits.terminal.columns.max)),
  rows: z.coerce.number().pipe(z.int().min(limits.terminal.rows.min).max(limits.terminal.rows.max)),
};

const wanted = z.object({
  id: terminalId().default(() => randomUUID()),
  cols: cells.cols.default(limits.terminal.columns.default),
  rows: cells.rows.default(limits.terminal.rows.default),
  cwd: path().optional(),
  envs: environment().default({}).meta({ sensitive: true }),
});

const opening = { action: auditActions.terminalOpen, scope: 'sandboxes:write' as const };
const visiting = { opened: opening.action, closed: auditActions.terminalClose, scope: opening.scope };

type Wanted = z.output<typeof wanted>;

async function create(call: DaytonaCall): Promise<unknown> {
  const { services, request, signal } = call;
  const asked = wantedIn(call.body);
  const { sandbox = '' } = call.params;
  await audited(call, opening, () => make(services, request, sandbox, asked, signal));
  return { sessionId: asked.id };
}

async function list(call: DaytonaCall): Promise<unknown> {
  return { sessions: (await terminalsOf(call)).map(toSession) };
}

async function find(call: DaytonaCall): Promise<unknown> {
  const { id } = call.params;
  const found = (await terminalsOf(call)).find(({ terminal }) => terminal === id);
  if (found) return toSession(found);
  throw notFound('terminal', `There is no PTY session '${id}'.`);
}

async function remove(call: DaytonaCall): Promise<unknown> {
  const { sandbox, id } = call.params;
  await call.action('EndTerminal', { sandbox, terminal: id });
  return { message: 'The PTY session has ended.' };
}

async function resize(call: DaytonaCall): Promise<unknown> {
  const { services, request, signal } = call;
  const { sandbox = '', id = '' } = call.params;
  const { cols, rows } = validateInput(z.object(cells), call.body);
  const look = { terminalId: id, size: { columns: cols, rows }, create: false };
  await audited(call, opening, () =>
    services.terminals.look(request.caller, sandbox, look, async () => {}, signal),
  );
  return find(call);
}

export function addPtySockets(
  app: FastifyInstance,
  root: string,
  { parts, sockets }: { parts: DaytonaDependencies; sockets: WebSockets },
): void {
  const { services } = parts;
  /** @param ready Resolves to the id of the terminal, once it is there. */
  const serveAt = (
    address: string,
    ready: (request: FastifyRequest, signal: AbortSignal) => Promise<string>,
  ) => {
    app.get(`${root}${PTY}${address}`, webSocketRoute, (request, reply) => {
      if (!sockets.isAskedFor(request)) {
        throw invalidArgument('Upgrade', 'A PTY is no plain request.', 'Open it with a WebSocket client.');
      }
      const { sandbox = '' } = request.params as Record<string, string>;
      return sockets.serve(request, reply, visiting, async (visit, begun) => {
        const readsEnd = offeredBy(request).includes(READS_END);
        const open = () => visit.open((connection) => new PtySocket(connection, readsEnd));
        try {
          const look = { terminalId: await ready(request, visit.gone), size: null, create: false };
          await services.terminals.look(
            request.caller,
            sandbox,
            look,
            async (view) => {
              begun();
              await open()?.carry(view);
            },
            visit.gone,
          );
        } catch (error) {
          // The clients show a message, and nothing of a refused handshake.
          if (!visit.isOpen) open();
          throw error;
        }
      });
    });
  };
  serveAt('/:id/connect', async ({ params }) => (params as Record<string, string>)['id'] ?? '');
  serveAt('/create-connect', async (request, signal) => {
    const { sandbox = '' } = request.params as Record<string, string>;
    const asked = wantedIn({ ...(request.query as object), envs: environmentIn(request) });
    await make(services, request, sandbox, asked, signal);
    return asked.id;
  });
}

/** Chooses a subprotocol that shows no environment, where there is one. */
export function chooseProtocol(offered: ReadonlySet<string>): string {
  const all = [...offered];
  return all.find((one) => !one.startsWith(ENVIRONMENT)) ?? all[0] ?? '';
}

function wantedIn(given: Record<string, unknown>): Wanted {
  return validateInput(wanted, { ...given, cwd: given['cwd'] || null });
}

function environmentIn(request: FastifyRequest): unknown {
  const token = offeredBy(request).find((one) => one.startsWith(ENVIRONMENT));
  if (token === undefined) return undefined;
  try {
    return JSON.parse(Buffer.from(token.slice(ENVIRONMENT.length), 'base64url').toString());
  } catch {
    throw invalidArgument('envs', `The subprotocol ${ENVIRONMENT} must end in JSON as base64url.`);
  }
}

function offeredBy({ headers }: FastifyRequest): string[] {
  return (headers['sec-websocket-protocol'] ?? '').split(',').map((token) => token.trim());
}

/** Starts a terminal; what it prints waits for its first viewer. */
async function make(
  { terminals }: Pick<Services, 'terminals'>,
  { caller }: FastifyRequest,
  sandbox: string,
  { id, cols, rows, cwd, envs }: Wanted,
  signal: AbortSignal,
): Promise<void> {
  const taken = new SandhavenError('already_exists', `There is a PTY session '${id}' already.`, {
    ...{ parameter: 'id', hint: 'Connect to it, or choose another id.' },
  });
  // A viewer with a size changes that of a terminal which is there.
  if ((await terminals.list(caller, sandbox)).some(({ terminalId }) => terminalId === id)) throw taken;
  const look: LookRequest = {
    ...{ terminalId: id, size: { columns: cols, rows }, create: true, env: envs },
    ...(cwd === undefined ? {} : { cwd }),
  };
  await terminals.look(
    caller,
    sandbox,
    look,
    async ({ created }) => {
      if (!created) throw taken;
    },
    signal,
  );
}

type Listed = Record<'terminal' | 'cols' | 'rows' | 'created_at', unknown>;

async function terminalsOf(call: DaytonaCall): Promise<Listed[]> {
  const { terminals } = await call.action('ListTerminals', { sandbox: call.params['sandbox'] });
  return terminals as Listed[];
}

/** Nobody remembers the folder and the environment. */
function toSession({ terminal, cols, rows, created_at }: Listed): object {
  return {
    ...{ id: terminal, active: true, cols, rows, createdAt: created_at },
    ...{ cwd: '', envs: {}, lazyStart: false },
  };
}

// A terminal on a WebSocket, as Daytona's clients speak it: its bytes come in binary messages, what is typed goes in any, and
// its begin and its end are JSON in text messages.

export class PtySocket implements TerminalSink, ServedSocket {
  readonly #socket: LiveSocket;
  /** Others would take the message of the end for output. */
  readonly #readsEnd: boolean;
  #view: TerminalView | null = null;

  constructor(socket: WebSocket, readsEnd: boolean) {
    this.#socket = new LiveSocket(socket, {
      message: (data) => this.#type(data),
      hasRoom: () => this.#view?.resume(),
    });
    this.#readsEnd = readsEnd;
  }

  get closed(): Promise<void> {
    return this.#socket.closed;
  }

  /** Resolves when the terminal has ended or the client has left; rejects when the terminal cannot be seen any more. */
  async carry(view: TerminalView): Promise<void> {
    this.#view = view;
    view.input.on('drain', () => this.#socket.resume());
    this.#control({ status: 'connected' });
    view.show(this);
    const end = await Promise.race([view.ended, this.#socket.left]);
    if (!end) return;
    const exit = exitOf(end);
    if (this.#readsEnd) this.#control({ status: 'exited', ...exit });
    this.close(closeCodes.normal, JSON.stringify(exit));
  }

  data(bytes: Buffer): boolean {
    return this.#socket.send(bytes, { binary: true });
  }

  /** Nothing says so to these clients. */
  skipped(): boolean {
    return !this.#socket.isFull;
  }

  resized(): boolean {
    return !this.#socket.isFull;
  }

  fail(problem: Problem): void {
    const { detail, hint = '' } = problem;
    this.#control({ status: 'error', error: `${detail} ${hint}`.trim() });
    this.#socket.fail(problem);
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #type(data: Buffer): void {
    const input = this.#view?.input;
    if (input && !input.destroyed && !input.write(data)) this.#socket.pause();
  }

  #control(message: object): void {
    this.#socket.say({ type: 'control', ...message });
  }
}

/** A reason is an error to the clients. */
function exitOf({ exitCode, signal }: ProcessEnd): { exitCode: number; exitReason?: string } {
  if (signal !== null) return { exitCode, exitReason: `The shell was ended by ${signal}.` };
  return exitCode === 0 ? { exitCode } : { exitCode, exitReason: `The shell ended with code ${exitCode}.` };
}
