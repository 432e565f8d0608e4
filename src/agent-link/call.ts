/** Calls whose whole answer is held in memory, within bounds. */
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import { inSpan, type Span } from '../concurrency/span.ts';
import type { LiveOutput } from '../control/ports/index.ts';
import { currentHold } from '../fairness/answer-room.ts';
import type { Release } from '../fairness/shares.ts';
import { SandhavenError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { type AnswerSink, Exchange, type OpenChannel } from './exchange.ts';
import { type FrameBounds, ProtocolError } from './frames.ts';
import { LiveOutputReader } from './live-output.ts';
import { parseReply, unavailable } from './replies.ts';
import type { AgentRequest } from './request.ts';

/** Bound on the JSON of all items of one answer. */
const MAX_ITEM_BYTES = 4 * limits.agentFrameBytes;
/** Unit of memory reserved for an answer of unknown size. */
const ROOM_BYTES = limits.agentFrameBytes;

export interface Call<Reply> {
  request: AgentRequest;
  /** Data of the request. */
  upload?: Buffer | Readable;
  signal?: AbortSignal | undefined;
  /** Timeout of the whole answer, from the end of the request. */
  timeoutMs: number;
  /** Error of that timeout; by default "does not answer". */
  timeoutError?: () => Error;
  reply: z.ZodType<Reply>;
  /** Returns the bytes of data that the reply announces; when absent, neither data nor an end follows. */
  dataBytes?: (reply: Reply) => number;
  maxItems?: number;
  /** Bounds of each item's JSON, when unusual. */
  itemBounds?: FrameBounds;
  /** Reduces an item's JSON to its kept part; by default all of it. */
  keepOfItem?: (json: unknown) => unknown;
  /** Bound on the data of all items. */
  maxItemDataBytes?: number;
  /** Receives the live output that the request asks for, which is no part of the answer. */
  live?: LiveOutput | undefined;
  /** true: parts of the result come between live output, and not only after it. */
  mixed?: boolean;
}

export interface Item {
  json: unknown;
  /** Length of the received JSON. */
  bytes: number;
  data: Buffer[];
}

export interface Answer<Reply> {
  items: Item[];
  reply: Reply;
  data: Buffer;
}

/** Makes one call and parses its answer with `parse`, which may throw ProtocolError. */
export type Ask = <Reply, T>(
  id: string,
  options: Call<Reply>,
  parse: (answer: Answer<Reply>) => T | Promise<T>,
) => Promise<T>;

/** Rejects with a SandhavenError, or with the signal's reason. */
export function call<Reply>(
  openChannel: OpenChannel,
  id: string,
  options: Call<Reply>,
): Promise<Answer<Reply>> {
  return inSpan(`agent ${options.request.op}`, { 'sandhaven.sandbox_id': id }, (span) => {
    const answer = exchanged(openChannel, id, options);
    return span ? measured(span, options, answer) : answer;
  });
}

async function measured<Reply>(
  span: Span,
  { upload }: Call<Reply>,
  pending: Promise<Answer<Reply>>,
): Promise<Answer<Reply>> {
  if (Buffer.isBuffer(upload)) span.set({ 'sandhaven.agent.sent_bytes': upload.length });
  const answer = await pending;
  const pieces = [answer.data, ...answer.items.flatMap(({ data }) => data)];
  const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
  const ofItems = answer.items.reduce((sum, item) => sum + item.bytes, 0);
  span.set({ 'sandhaven.agent.received_bytes': bytes + ofItems });
  return answer;
}

function exchanged<Reply>(
  openChannel: OpenChannel,
  id: string,
  options: Call<Reply>,
): Promise<Answer<Reply>> {
  return new Promise((resolve, reject) => {
    const hold = currentHold();
    const pauses = {
      makeRoom: async (bytes: number) => hold && timeout.during(hold.take(bytes, options.signal)),
      wait: (until: Promise<void>) => void timeout.during(until),
    };
    const collector = new Collector(options, pauses, resolve, reject);
    const exchange = new Exchange(collector, options.signal);
    const timeout = new AnswerTimeout(exchange, options);
    run(exchange, timeout, openChannel, id, options).catch((error: unknown) => exchange.fail(error as Error));
  });
}

async function run<Reply>(
  exchange: Exchange,
  timeout: AnswerTimeout,
  openChannel: OpenChannel,
  id: string,
  options: Call<Reply>,
): Promise<void> {
  timeout.begin();
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
  timeout.begin();
}

/**
 * Sends a stream's bytes as fast as the agent takes them. Leaves the stream open when the exchange ends first: it may
 * be a request whose answer is still to be written.
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

/** The timeout of an answer. It does not run while the answer is paused because somebody here waits. */
class AnswerTimeout {
  readonly #exchange: Exchange;
  readonly #timeoutMs: number;
  readonly #late: () => Error;
  #leftMs = 0;
  #since = 0;
  /** Number of those who wait. */
  #waits = 0;

  constructor(
    exchange: Exchange,
    { timeoutMs, timeoutError }: Pick<Call<unknown>, 'timeoutMs' | 'timeoutError'>,
  ) {
    this.#exchange = exchange;
    this.#timeoutMs = timeoutMs;
    this.#late = timeoutError ?? (() => unavailable("The sandbox's agent does not answer."));
  }

  begin(): void {
    this.#leftMs = this.#timeoutMs;
    this.#run();
  }

  /** Takes nothing more of the answer until then. */
  async during<T>(wait: Promise<T>): Promise<T | undefined> {
    this.#waits += 1;
    if (this.#waits === 1) {
      this.#leftMs -= performance.now() - this.#since;
      this.#exchange.pause();
      this.#exchange.relax();
    }
    const waited = await wait.catch((error: unknown) => {
      this.#exchange.fail(error as Error);
      return undefined;
    });
    this.#waits -= 1;
    if (this.#waits > 0) return waited;
    this.#run();
    this.#exchange.resume();
    return waited;
  }

  #run(): void {
    this.#since = performance.now();
    this.#exchange.expect(Math.max(this.#leftMs, 1), this.#late);
  }
}

interface Pauses {
  /** Pauses the answer until there is room for these bytes. */
  makeRoom(bytes: number): Promise<Release | undefined>;
  wait(until: Promise<void>): void;
}

class Collector<Reply> implements AnswerSink {
  readonly itemBounds: FrameBounds | undefined;
  readonly #options: Call<Reply>;
  readonly #pauses: Pauses;
  readonly #resolve: (answer: Answer<Reply>) => void;
  readonly #reject: (error: Error) => void;
  readonly #items: Item[] = [];
  readonly #live: LiveOutputReader | null;
  #itemBytes = 0;
  #itemDataBytes = 0;
  #reply: { value: Reply; dataBytes: number } | null = null;
  readonly #data: Buffer[] = [];
  #dataBytes = 0;
  /** Bytes reserved so far. */
  #room: number = limits.smallAnswerBytes;
  /** The last reservation, which alone may be more than its answer needs. */
  #last: { bytes: number; made: Promise<Release | undefined> } | null = null;

  constructor(
    options: Call<Reply>,
    pauses: Pauses,
    resolve: (answer: Answer<Reply>) => void,
    reject: (error: Error) => void,
  ) {
    this.itemBounds = options.itemBounds;
    this.#options = options;
    this.#live = options.live ? new LiveOutputReader(options.live, pauses.wait, options.mixed) : null;
    this.#pauses = pauses;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  item(json: unknown, bytes: number): void {
    if (this.#live?.item(json, bytes)) return;
    if (this.#items.length >= (this.#options.maxItems ?? 0)) throw new ProtocolError('too many items');
    this.#itemBytes += bytes;
    if (this.#itemBytes > MAX_ITEM_BYTES) throw new ProtocolError('items too large');
    const { keepOfItem } = this.#options;
    this.#items.push({ json: keepOfItem ? keepOfItem(json) : json, bytes, data: [] });
    this.#expect(this.#itemBytes + this.#itemDataBytes, ROOM_BYTES);
  }

  reply(json: unknown): boolean {
    this.#live?.end();
    const value = parseReply(this.#options.reply, json);
    const { dataBytes } = this.#options;
    this.#reply = { value, dataBytes: dataBytes?.(value) ?? 0 };
    this.#expect(this.#itemBytes + this.#itemDataBytes + this.#reply.dataBytes, 0);
    return dataBytes !== undefined;
  }

  data(piece: Buffer): void {
    if (this.#live?.data(piece)) return;
    if (this.#reply) {
      this.#dataBytes += piece.length;
      if (this.#dataBytes > this.#reply.dataBytes) throw new ProtocolError('more data than announced');
      this.#data.push(piece);
      return;
    }
    this.#itemDataBytes += piece.length;
    const item = this.#items.at(-1);
    if (!item) throw new ProtocolError('data before an item or a reply');
    if (this.#itemDataBytes > (this.#options.maxItemDataBytes ?? 0)) {
      throw new ProtocolError('too much data of items');
    }
    item.data.push(piece);
    this.#expect(this.#itemBytes + this.#itemDataBytes, ROOM_BYTES);
  }

  done(): void {
    if (!this.#reply || this.#dataBytes !== this.#reply.dataBytes) {
      throw new ProtocolError('less data than announced');
    }
    this.#giveBack(this.#room - this.#itemBytes - this.#itemDataBytes - this.#dataBytes);
    this.#resolve({ items: this.#items, reply: this.#reply.value, data: Buffer.concat(this.#data) });
  }

  failed(error: Error): void {
    this.#reject(error);
  }

  #giveBack(unused: number): void {
    const last = this.#last;
    void last?.made.then((release) => release?.(last.bytes - unused));
  }

  #expect(bytes: number, atLeast: number): void {
    if (bytes <= this.#room) return;
    const missing = Math.max(bytes - this.#room, atLeast);
    this.#room += missing;
    this.#last = { bytes: missing, made: this.#pauses.makeRoom(missing) };
  }
}

/** Timeout error of operations whose duration depends on the sandbox's files. */
export function tooSlow(): Error {
  return new SandhavenError('timeout', 'The operation took too long inside the sandbox.', {
    hint: 'Work on a smaller part, or use Sandbox.RunCommand.',
  });
}
