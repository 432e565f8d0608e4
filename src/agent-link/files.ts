/** File operations whose answers are small enough for memory. */
import type { AgentLink } from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';
import { type Ask, type Item, tooSlow } from './call.ts';
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
            ...(durable || newBeneath !== undefined ? { v: 3 } : {}),
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
