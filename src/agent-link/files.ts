/** File operations: those whose answers are small enough for memory, and the bytes of a file as a stream. */
import type { Readable } from 'node:stream';
import type { AgentLink } from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';
import { openAnswerStream } from './answer-stream.ts';
import { type Ask, type Item, tooSlow } from './call.ts';
import type { OpenChannel } from './exchange.ts';
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
  writeReply,
} from './replies.ts';

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

/** Resolves when the agent has opened the file; `size` is that of the whole file. */
export async function openReadStream(
  openChannel: OpenChannel,
  id: string,
  query: { path: string; start?: number; end?: number },
  signal?: AbortSignal,
): Promise<{ size: number; stream: Readable }> {
  const { path, start, end } = query;
  const { reply, stream } = await openAnswerStream(openChannel, id, {
    request: { op: 'read_stream', path, start, end, max_unsized_bytes: limits.fileContentBytes },
    reply: streamReply,
    bytesOf({ size, bytes }) {
      if (bytes > size) throw new ProtocolError('more bytes than the file has');
      return bytes;
    },
    silence: "The sandbox's agent sends no more data.",
    signal,
  });
  return { size: reply.size, stream };
}
