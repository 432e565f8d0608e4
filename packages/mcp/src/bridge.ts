/**
 * Passes the messages of a client on standard input to MCP over HTTP, each in a request of its own, and what comes back to
 * standard output. The service keeps nothing of a connection, so its restarts are not seen here.
 */
import type { Readable, Writable } from 'node:stream';
import { answerOf, errorLine, INVALID_REQUEST, logLine, PARSE_ERROR, SERVER_ERROR } from './answer.ts';
import { type Bounds, Room } from './bounds.ts';
import { exchange, type Taking } from './exchange.ts';
import { Failure, unreachable } from './failure.ts';
import { linesOf } from './lines.ts';
import { headersOf, isObject, type Message, messageOf } from './messages.ts';
import type { Options } from './options.ts';
import { Output } from './output.ts';
import { parse } from './parse.ts';

export interface Streams {
  stdin: Readable;
  stdout: Writable;
  stderr: Writable;
  /** Ends the bridge, as the end of standard input does. */
  signal: AbortSignal;
}

/** Returns the exit status, once the client has gone or the service has refused its first message. */
export async function runBridge(options: Options, bounds: Bounds, streams: Streams): Promise<number> {
  const bridge = new Bridge(options, bounds, streams);
  const { stdin, stdout, signal } = streams;
  const stop = () => bridge.end(0);
  stdout.on('error', stop);
  signal.addEventListener('abort', stop, { once: true });
  try {
    await Promise.race([bridge.ended, bridge.read(stdin)]);
  } catch {
    // A broken standard input is its end.
  }
  bridge.end(0);
  return bridge.ended;
}

interface InProgress {
  abort: AbortController;
  /** Of a revision that has sessions, in which a cancellation is a message of its own. */
  inSession: boolean;
}

class Bridge {
  readonly ended: Promise<number>;
  readonly #options: Options;
  readonly #bounds: Bounds;
  readonly #room: Room;
  readonly #output: Output;
  readonly #stderr: Writable;
  /** By the ids of requests as JSON: 1 and "1" are two. */
  readonly #inProgress = new Map<string, InProgress>();
  /** Exchanges, those of notifications too. */
  readonly #open = new Set<AbortController>();
  /** Headers of the revisions that begin with `initialize`. */
  #session: Record<string, string> = {};
  #hasAnswered = false;
  #finish: (status: number) => void = () => {};

  constructor(options: Options, bounds: Bounds, { stdout, stderr }: Streams) {
    this.#options = options;
    this.#bounds = bounds;
    this.#room = new Room(bounds.roomBytes);
    this.#output = new Output(stdout);
    this.#stderr = stderr;
    this.ended = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  /** The service ends commands whose request has gone; an operation on a sandbox goes on to its end. */
  end(status: number): void {
    for (const abort of this.#open) abort.abort();
    this.#finish(status);
  }

  async read(stdin: Readable): Promise<void> {
    for await (const line of linesOf(stdin, this.#bounds.requestBytes)) {
      const message = line === null ? null : messageOf(parse(line));
      if (line === null || message === null) {
        const why =
          line === null ? `longer than ${this.#bounds.requestBytes} bytes` : 'no message of JSON-RPC';
        await this.#output.write(errorLine(null, PARSE_ERROR, `The line is ${why}.`));
      } else if (!this.#cancels(message)) {
        const refusal = this.#refusal(message, line);
        if (refusal === null) void this.#carryOut(message, line);
        else if (refusal !== '') await this.#output.write(refusal);
      }
    }
  }

  /** Cancels what a notification names; returns whether the service need not hear of it. */
  #cancels({ method, params }: Message): boolean {
    if (method !== 'notifications/cancelled') return false;
    const found = this.#inProgress.get(JSON.stringify(params['requestId'] ?? null));
    found?.abort.abort();
    return found === undefined || !found.inSession;
  }

  /** Returns the answer to a message that finds no room, empty where none is due; null where there is room. */
  #refusal({ id, method }: Message, line: string): string | null {
    const isRequest = id !== null && method !== null;
    if (isRequest && this.#inProgress.has(JSON.stringify(id))) {
      return errorLine(id, INVALID_REQUEST, 'A request with this id is in progress.');
    }
    if (this.#open.size < this.#bounds.requests && this.#room.take(line.length)) return null;
    return isRequest ? errorLine(id, SERVER_ERROR, 'Too many requests are in progress: wait for one.') : '';
  }

  /** Never rejects. */
  async #carryOut(message: Message, body: string): Promise<void> {
    const { id, method, revision } = message;
    const abort = new AbortController();
    const key = JSON.stringify(id);
    const isRequest = id !== null && method !== null;
    this.#open.add(abort);
    if (isRequest) this.#inProgress.set(key, { abort, inSession: revision === null });
    try {
      const { url } = this.#options;
      const sending = { url, headers: this.#headers(message), body, id: isRequest ? id : null };
      await exchange({ ...sending, key: this.#options.key, signal: abort.signal }, this.#taking(message));
    } catch (error) {
      if (!abort.signal.aborted) await this.#fail(message, error);
    } finally {
      this.#open.delete(abort);
      if (isRequest) this.#inProgress.delete(key);
      this.#room.giveBack(body.length);
    }
  }

  #headers(message: Message): Record<string, string> {
    const { key, team } = this.#options;
    return {
      ...(message.revision === null ? this.#session : headersOf(message)),
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${key}`,
      ...(team === undefined ? {} : { 'sandhaven-team': team }),
    };
  }

  #taking({ method }: Message): Taking {
    let session: string | null = null;
    return {
      bounds: this.#bounds,
      room: this.#room,
      pass: (line) => this.#output.write(line),
      began(headers) {
        session = headers.get('mcp-session-id');
      },
      answered: (value) => {
        this.#hasAnswered = true;
        const version = method === 'initialize' ? revisionIn(value) : null;
        if (version === null) return;
        this.#session = {
          'mcp-protocol-version': version,
          ...(session === null ? {} : { 'mcp-session-id': session }),
        };
      },
    };
  }

  /** A service that refuses or is away at the very beginning ends the bridge, so that its client shows why. */
  async #fail(message: Message, error: unknown): Promise<void> {
    const { url, key } = this.#options;
    const failure = error instanceof Failure ? error : unreachable(url.origin, error);
    this.#stderr.write(`${logLine(failure, key, this.#bounds.textChars)}\n`);
    if (message.id !== null && message.method !== null) await this.#output.write(answerOf(message, failure));
    if (this.#hasAnswered || !opening.has(message.method ?? '') || passing.has(failure.code)) return;
    this.end(failure.exit);
  }
}

/** The first messages of clients, by revision; some clients ask with the first in a process of its own. */
const opening = new Set(['server/discover', 'initialize']);

/** Failures of one message, which say nothing about the next one. */
const passing = new Set(['too_large', 'resource_exhausted']);

/** Returns the revision that `initialize` has agreed on. */
function revisionIn(value: unknown): string | null {
  const result = isObject(value) ? value['result'] : null;
  const version = isObject(result) ? result['protocolVersion'] : null;
  return typeof version === 'string' && /^[\w.-]{1,32}$/.test(version) ? version : null;
}
