/** File operations: those whose answers are small enough for memory, and the bytes of a file as a stream. */
import { Readable } from 'node:stream';
import type { AgentLink } from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';
import { type Ask, type Item, tooSlow } from './call.ts';
import { type AnswerSink, Exchange, type OpenChannel } from './exchange.ts';
import { ProtocolError } from './frames.ts';
import {
  createdReply,
  emptyReply,
  fileEntries,
  foundPaths,
  listReply,
  parseReply,
  readReply,
  statReply,
  streamReply,
  unavailable,
  writeReply,
} from './replies.ts';
import type { AgentRequest } from './request.ts';

type Files = Pick<
  AgentLink,
  'list' | 'find' | 'stat' | 'read' | 'write' | 'createFolder' | 'move' | 'remove'
>;

const patience = { timeoutMs: limits.fileOperationMs, timeoutError: tooSlow };

export function filesOf(ask: Ask): Files {
  return {
    list: (id, { path, pattern, maxItems, offset }, signal) =>
      ask(
        id,
        {
          request: { op: 'list', path, pattern, max_items: maxItems, offset },
          signal,
          ...patience,
          reply: listReply,
          maxItems,
        },
        (answer) => ({
          path,
          items: itemsOf(answer.items, maxItems, (json) => parseReply(fileEntries, json)),
          totalCount: answer.reply.total_count,
        }),
      ),
    find: (id, { path, pattern, maxItems, offset }, signal) =>
      ask(
        id,
        {
          request: { op: 'find', path, pattern, max_items: maxItems, offset },
          signal,
          ...patience,
          reply: listReply,
          maxItems,
        },
        (answer) => ({
          items: itemsOf(answer.items, maxItems, (json) => parseReply(foundPaths, json)),
          totalCount: answer.reply.total_count,
        }),
      ),
    stat: (id, path) =>
      ask(
        id,
        { request: { op: 'stat', path }, ...patience, reply: statReply },
        ({ reply: { modified_ms, ...info } }) => ({ path, ...info, modifiedMs: modified_ms }),
      ),
    read: (id, { path, startLine, endLine }, signal) =>
      ask(
        id,
        {
          request: {
            op: 'read',
            path,
            start_line: startLine,
            end_line: endLine,
            max_bytes: limits.fileContentBytes,
          },
          signal,
          ...patience,
          reply: readReply,
          dataBytes: ({ bytes }) => bytes,
        },
        ({ reply, data }) => ({
          content: data,
          size: reply.size,
          totalLines: reply.total_lines,
          startLine: reply.start_line,
          endLine: reply.end_line,
        }),
      ),
    write: (id, { path, createParents, mode, durable, newBeneath, content }, signal) =>
      ask(
        id,
        {
          request: {
            op: 'write',
            path,
            create_parents: createParents,
            mode,
            ...(durable ? { durable } : {}),
            ...(newBeneath === undefined ? {} : { new_beneath: newBeneath }),
          },
          upload: content,
          signal,
          ...patience,
          reply: writeReply,
        },
        ({ reply: { bytes_written, created } }) => ({ bytesWritten: bytes_written, created }),
      ),
    createFolder: (id, { path, mode }) =>
      ask(
        id,
        { request: { op: 'mkdir', path, mode }, ...patience, reply: createdReply },
        ({ reply }) => reply,
      ),
    move: (id, { source, destination }) =>
      ask(id, { request: { op: 'move', source, destination }, ...patience, reply: emptyReply }, () => {}),
    remove: (id, { path, recursive }, signal) =>
      ask(
        id,
        { request: { op: 'remove', path, recursive }, signal, ...patience, reply: emptyReply },
        () => {},
      ),
  };
}

function itemsOf<T>(parts: Item[], maxItems: number, parse: (json: unknown) => T[]): T[] {
  const items = parts.flatMap(({ json }) => parse(json));
  if (items.length > maxItems) throw new ProtocolError('more items than asked for');
  return items;
}

interface Opened {
  /** Size of the whole file. */
  size: number;
  stream: Readable;
}

/**
 * A file's bytes as a stream, with backpressure to the agent and no copy of the bytes. Resolves when the agent has
 * opened the file. Destroying the stream ends the work in the sandbox.
 */
export function openReadStream(
  openChannel: OpenChannel,
  id: string,
  query: { path: string; start?: number; end?: number },
  signal?: AbortSignal,
): Promise<Opened> {
  return new Promise((resolve, reject) => {
    const stream = new FileStream(resolve, reject, signal);
    stream.start(openChannel, id, {
      op: 'read_stream',
      path: query.path,
      start: query.start,
      end: query.end,
      max_unsized_bytes: limits.fileContentBytes,
    });
  });
}

class FileStream extends Readable implements AnswerSink {
  readonly #resolve: (opened: Opened) => void;
  readonly #reject: (error: Error) => void;
  readonly #exchange: Exchange;
  #announced: number | null = null;
  #received = 0;

  constructor(resolve: (opened: Opened) => void, reject: (error: Error) => void, signal?: AbortSignal) {
    super({ highWaterMark: limits.agentDataFrameBytes });
    this.#resolve = resolve;
    this.#reject = reject;
    this.#exchange = new Exchange(this, signal);
    // An error before the caller listens must not end the process; the stream stays in error.
    this.on('error', () => {});
  }

  start(openChannel: OpenChannel, id: string, request: AgentRequest): void {
    this.#expectMore();
    void this.#exchange.open(openChannel, id).then(() => this.#exchange.send(request));
  }

  item(): void {
    throw new ProtocolError('an item in a stream');
  }

  reply(json: unknown): boolean {
    const { size, bytes } = parseReply(streamReply, json);
    if (bytes > size) throw new ProtocolError('more bytes than the file has');
    this.#announced = bytes;
    this.#resolve({ size, stream: this });
    return true;
  }

  data(piece: Buffer): void {
    this.#received += piece.length;
    if (this.#announced === null || this.#received > this.#announced) {
      throw new ProtocolError('more data than announced');
    }
    if (this.push(piece)) {
      this.#expectMore();
    } else {
      this.#exchange.relax();
      this.#exchange.pause();
    }
  }

  done(): void {
    if (this.#received !== this.#announced) throw new ProtocolError('less data than announced');
    this.push(null);
  }

  failed(error: Error): void {
    if (this.#announced === null) this.#reject(error);
    else this.destroy(error);
  }

  override _read(): void {
    if (this.#exchange.settled) return;
    this.#expectMore();
    this.#exchange.resume();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#exchange.fail(error ?? new Error('The stream was closed.'));
    callback(error);
  }

  #expectMore(): void {
    this.#exchange.expect(limits.streamIdleMs, () => unavailable("The sandbox's agent sends no more data."));
  }
}
