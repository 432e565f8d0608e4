/** File operations: those whose answers are small enough for memory, and the bytes of a file as a stream. */
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AgentLink, FileDetails } from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';
import { openAnswerStream } from './answer-stream.ts';
import { type Ask, type Item, tooSlow } from './call.ts';
import type { OpenChannel } from './exchange.ts';
import { ProtocolError } from './frames.ts';
import {
  createdReply,
  detailedEntries,
  emptyReply,
  entriesReply,
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
  | 'list'
  | 'find'
  | 'details'
  | 'setAttributes'
  | 'stat'
  | 'read'
  | 'write'
  | 'createFolder'
  | 'move'
  | 'remove'
>;

const patience = { timeoutMs: limits.fileOperationMs, timeoutError: tooSlow };

export function filesOf(ask: Ask): Files {
  return {
    list: (id, { user, path, pattern, maxItems, offset }, signal) =>
      ask(
        id,
        {
          request: { op: 'list', user, path, pattern, max_items: maxItems, offset },
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
    find: (id, { user, path, pattern, maxItems, offset }, signal) =>
      ask(
        id,
        {
          request: { op: 'find', user, path, pattern, max_items: maxItems, offset },
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
    details: (id, { user, path, depth, maxItems, offset }, signal) =>
      ask(
        id,
        {
          request: { op: 'entries', user, path, depth, max_items: maxItems, offset },
          signal,
          ...patience,
          reply: entriesReply,
          maxItems,
        },
        async ({ items: parts, reply }) => {
          const items: FileDetails[] = [];
          for (const part of parts) {
            const entries = itemsOf([part], maxItems - items.length, (json) =>
              parseReply(detailedEntries, json),
            );
            items.push(
              ...entries.map(({ modified_ms, ...entry }) => ({ ...entry, modifiedMs: modified_ms })),
            );
            // All of a page in one turn of the event loop would hold up everybody else.
            await nextTurn();
          }
          return { items, totalCount: reply.total_count, nextOffset: reply.next_offset };
        },
      ),
    setAttributes: (id, attributes) =>
      ask(id, { request: { op: 'set_attributes', ...attributes }, ...patience, reply: emptyReply }, () => {}),
    stat: (id, { user, path }) =>
      ask(
        id,
        { request: { op: 'stat', user, path }, ...patience, reply: statReply },
        ({ reply: { modified_ms, ...info } }) => ({ path, ...info, modifiedMs: modified_ms }),
      ),
    read: (id, { user, path, startLine, endLine }, signal) =>
      ask(
        id,
        {
          request: {
            op: 'read',
            user,
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
    write: (
      id,
      { user, privileged, path, createParents, mode, durable, newBeneath, metadata, content },
      signal,
    ) =>
      ask(
        id,
        {
          request: {
            op: 'write',
            user,
            path,
            create_parents: createParents,
            mode,
            ...(durable ? { durable } : {}),
            ...(newBeneath === undefined ? {} : { new_beneath: newBeneath }),
            ...{ metadata, privileged },
          },
          upload: content,
          signal,
          ...patience,
          reply: writeReply,
        },
        ({ reply: { bytes_written, created } }) => ({ bytesWritten: bytes_written, created }),
      ),
    createFolder: (id, { user, privileged, path, mode }) =>
      ask(
        id,
        { request: { op: 'mkdir', user, privileged, path, mode }, ...patience, reply: createdReply },
        ({ reply }) => reply,
      ),
    move: (id, { user, source, destination }) =>
      ask(
        id,
        { request: { op: 'move', user, source, destination }, ...patience, reply: emptyReply },
        () => {},
      ),
    remove: (id, { user, path, recursive }, signal) =>
      ask(
        id,
        { request: { op: 'remove', user, path, recursive }, signal, ...patience, reply: emptyReply },
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
  query: Parameters<AgentLink['readStream']>[1],
  signal?: AbortSignal,
): Promise<{ size: number; stream: Readable }> {
  const { user, path, start, end } = query;
  const { reply, stream } = await openAnswerStream(openChannel, id, {
    request: { op: 'read_stream', user, path, start, end, max_unsized_bytes: limits.fileContentBytes },
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
