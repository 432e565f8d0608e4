/**
 * Terminals that go on without viewers. A viewer is a channel: it sees the scrollback first, then what is printed; when
 * it does not take that, the agent leaves out what is not the newest, and says so.
 */
import { z } from 'zod';
import type {
  AgentTerminals,
  ProcessEnd,
  TerminalRequest,
  TerminalSink,
  TerminalSize,
  TerminalSummary,
  TerminalView,
} from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';
import type { Ask, Item } from './call.ts';
import { type AnswerSink, Exchange, type OpenChannel } from './exchange.ts';
import { ProtocolError } from './frames.ts';
import {
  emptyReply,
  milliseconds,
  parseReply,
  printedBytes,
  processEnd,
  takenInput,
  terminalSize,
  unavailable,
} from './replies.ts';
import { InputStream, sizeOf } from './running-process.ts';

const openReply = z.object({
  created: z.boolean(),
  created_ms: milliseconds,
  size: terminalSize,
  scrollback_bytes: printedBytes,
});

const note = z.union([
  takenInput,
  z.object({ skipped: printedBytes.min(1) }),
  z.object({ size: terminalSize }),
  processEnd,
]);

const listReply = z.object({ busy: z.boolean(), idle_ms: milliseconds.nullable() });

const listItem = z.object({
  terminal_id: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  created_ms: milliseconds,
  size: terminalSize,
  viewers: z.int().min(0).max(limits.terminal.viewersPerSandbox),
  program: z.string().max(limits.terminal.programChars),
  busy: z.boolean(),
});

export function terminalsOf(openChannel: OpenChannel, ask: Ask): AgentTerminals {
  return {
    openTerminal: (id, request, signal) =>
      new Promise((resolve, reject) => {
        const view = new View(resolve, reject, signal);
        void view.start(openChannel, id, request);
      }),

    listTerminals: (id, { timeoutMs = limits.helloTimeoutMs } = {}) =>
      ask(
        id,
        {
          request: { op: 'terminal_list' },
          timeoutMs,
          reply: listReply,
          maxItems: limits.terminal.perSandbox,
        },
        ({ items, reply }) => ({
          terminals: items.map(summary),
          busy: reply.busy,
          idleMs: reply.idle_ms,
        }),
      ),

    endTerminal: (id, terminalId, signal) =>
      ask(
        id,
        {
          request: { op: 'terminal_close', terminal_id: terminalId },
          timeoutMs: limits.terminal.endMs,
          reply: emptyReply,
          signal,
        },
        () => undefined,
      ),
  };
}

class View implements AnswerSink, TerminalView {
  readonly talks = true;
  readonly input: InputStream;
  created = false;
  createdAtMs = 0;
  size: TerminalSize = { columns: 0, rows: 0 };
  scrollbackBytes = 0;
  readonly #resolve: (view: TerminalView) => void;
  readonly #reject: (error: Error) => void;
  readonly #exchange: Exchange;
  readonly #outcome = Promise.withResolvers<ProcessEnd>();
  #sink: TerminalSink | null = null;
  /** Events of the slice that brought the reply, until `show`; the channel is paused meanwhile. */
  #early: ((sink: TerminalSink) => boolean)[] = [];
  #isOpen = false;
  #end: ProcessEnd | null = null;
  #isDone = false;

  constructor(resolve: (view: TerminalView) => void, reject: (error: Error) => void, signal?: AbortSignal) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#exchange = new Exchange(this, signal);
    this.input = new InputStream(this.#exchange);
    // A caller that does not wait for the end must not see an unhandled rejection.
    this.ended.catch(() => {});
  }

  get ended(): Promise<ProcessEnd> {
    return this.#outcome.promise;
  }

  async start(openChannel: OpenChannel, id: string, request: TerminalRequest): Promise<void> {
    const late = () => unavailable("The sandbox's agent does not answer.");
    this.#exchange.expect(limits.terminal.startMs, late);
    await this.#exchange.open(openChannel, id);
    this.#exchange.send({
      op: 'terminal_open',
      user: request.user,
      terminal_id: request.terminalId,
      ...(request.size ? { size: sizeOf(request.size) } : {}),
      ...(request.create ? { create: request.create } : {}),
    });
  }

  show(sink: TerminalSink): void {
    this.#sink = sink;
    const takesMore = this.#early.map((event) => event(sink));
    this.#early = [];
    if (this.#isDone) this.#over();
    else if (!takesMore.includes(false)) this.#exchange.resume();
  }

  resume(): void {
    if (this.#sink) this.#exchange.resume();
  }

  resize(size: TerminalSize): void {
    this.#exchange.sendItem({ resize: sizeOf(size) });
  }

  detach(): void {
    this.#exchange.fail(unavailable('The viewer has left the terminal.'));
  }

  reply(json: unknown): boolean {
    const reply = parseReply(openReply, json);
    this.#exchange.relax();
    this.#exchange.pause();
    this.created = reply.created;
    this.createdAtMs = reply.created_ms;
    this.size = reply.size;
    this.scrollbackBytes = reply.scrollback_bytes;
    this.#isOpen = true;
    this.#resolve(this);
    return true;
  }

  item(json: unknown): void {
    const item = parseReply(note, json);
    if (!this.#isOpen || this.#end) throw new ProtocolError('an item that has no place here');
    if ('taken' in item) this.input.taken(item.taken);
    else if ('skipped' in item) this.#deliver((sink) => sink.skipped(item.skipped));
    else if ('size' in item) this.#deliver((sink) => sink.resized(item.size));
    else this.#end = { exitCode: item.exit_code, signal: item.signal };
  }

  data(piece: Buffer): void {
    if (!this.#isOpen || this.#end) throw new ProtocolError('data that has no place here');
    this.#deliver((sink) => sink.data(piece));
  }

  done(): void {
    if (!this.#end) throw new ProtocolError('no exit code before the end');
    this.#isDone = true;
    this.input.over();
    if (this.#sink) this.#over();
  }

  failed(error: Error): void {
    this.#reject(error);
    this.#outcome.reject(error);
    this.input.destroy(error);
  }

  #deliver(event: (sink: TerminalSink) => boolean): void {
    if (!this.#sink) this.#early.push(event);
    else if (!event(this.#sink)) this.#exchange.pause();
  }

  #over(): void {
    if (this.#end) this.#outcome.resolve(this.#end);
  }
}

function summary({ json }: Item): TerminalSummary {
  const item = parseReply(listItem, json);
  return {
    terminalId: item.terminal_id,
    createdAtMs: item.created_ms,
    size: item.size,
    viewers: item.viewers,
    program: item.program,
    busy: item.busy,
  };
}
