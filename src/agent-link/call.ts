/** An operation whose whole answer is wanted in memory, within bounds. */
import type { Readable } from 'node:stream';
import { SandhavenError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { type AnswerSink, Exchange, type OpenChannel } from './exchange.ts';
import { unavailable } from './faults.ts';
import { ProtocolError } from './frames.ts';

/** Of all items of one answer, as JSON. */
const MAX_ITEM_BYTES = 4 * limits.agentFrameBytes;

export interface Call {
  request: Record<string, unknown>;
  /** The request's data. */
  upload?: Buffer | Readable;
  signal?: AbortSignal | undefined;
  /** For the whole answer, from when all of the request is sent. */
  timeoutMs: number;
  /** What to say when that is over; by default that the agent does not answer. */
  timeoutError?: () => Error;
  /** Whether data and an end frame follow the reply. */
  repliesWithData?: boolean;
  maxItems?: number;
  /** Of all data of the answer. */
  maxDataBytes?: number;
}

export interface Item {
  json: unknown;
  /** Length of the JSON. */
  bytes: number;
  data: Buffer[];
}

export interface Answer {
  items: Item[];
  reply: unknown;
  data: Buffer;
}

/** Makes one call, and takes its answer apart with `parse`, which may throw ProtocolError. */
export type Ask = <T>(id: string, options: Call, parse: (answer: Answer) => T) => Promise<T>;

/** Fails with a SandhavenError, or with the signal's reason. */
export function call(openChannel: OpenChannel, id: string, options: Call): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const collector = new Collector(options, resolve, reject);
    const exchange = new Exchange(collector, options.signal);
    run(exchange, openChannel, id, options).catch((error: unknown) => exchange.fail(error as Error));
  });
}

async function run(exchange: Exchange, openChannel: OpenChannel, id: string, options: Call): Promise<void> {
  const late = options.timeoutError ?? (() => unavailable("The sandbox's agent does not answer."));
  exchange.expect(options.timeoutMs, late);
  await exchange.open(openChannel, id);
  if (exchange.settled) return;
  const { request, upload } = options;
  if (upload === undefined || Buffer.isBuffer(upload)) {
    exchange.send(request, upload);
    return;
  }
  exchange.send(request);
  await pump(exchange, upload);
  exchange.sendEnd();
  exchange.expect(options.timeoutMs, late);
}

/**
 * Sends a stream's bytes as fast as the agent takes them. The stream is left alone when the exchange is over
 * first: it may be a request whose answer has yet to be written.
 */
async function pump(exchange: Exchange, source: Readable): Promise<void> {
  exchange.relax();
  for await (const chunk of source.iterator({ destroyOnReturn: false })) {
    exchange.expect(limits.streamIdleMs, () => unavailable("The sandbox's agent takes no more data."));
    await exchange.sendData(Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk));
    exchange.relax();
    if (exchange.settled) return;
  }
}

class Collector implements AnswerSink {
  readonly #options: Call;
  readonly #resolve: (answer: Answer) => void;
  readonly #reject: (error: Error) => void;
  readonly #items: Item[] = [];
  readonly #data: Buffer[] = [];
  #dataBytes = 0;
  #itemBytes = 0;
  #replied = false;
  #reply: unknown;

  constructor(options: Call, resolve: (answer: Answer) => void, reject: (error: Error) => void) {
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  item(json: unknown, bytes: number): void {
    if (this.#items.length >= (this.#options.maxItems ?? 0)) throw new ProtocolError('too many items');
    this.#itemBytes += bytes;
    if (this.#itemBytes > MAX_ITEM_BYTES) throw new ProtocolError('items too large');
    this.#items.push({ json, bytes, data: [] });
  }

  reply(json: unknown): boolean {
    this.#replied = true;
    this.#reply = json;
    return this.#options.repliesWithData ?? false;
  }

  data(piece: Buffer): void {
    this.#dataBytes += piece.length;
    if (this.#dataBytes > (this.#options.maxDataBytes ?? 0)) throw new ProtocolError('too much data');
    const target = this.#replied ? this.#data : this.#items.at(-1)?.data;
    if (!target) throw new ProtocolError('data before an item or a reply');
    target.push(piece);
  }

  done(): void {
    this.#resolve({ items: this.#items, reply: this.#reply, data: Buffer.concat(this.#data) });
  }

  failed(error: Error): void {
    this.#reject(error);
  }
}

/** For operations whose length depends on what is in the sandbox. */
export function tooSlow(): Error {
  return new SandhavenError('timeout', 'The operation took too long inside the sandbox.', {
    hint: 'Work on a smaller part, or use Sandbox.RunCommand.',
  });
}
