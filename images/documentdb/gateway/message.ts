/** Parses one message of the MongoDB wire protocol (OP_MSG, or OP_QUERY for a first hello), and encodes its reply. */
import { checkedEnd, type Field, fieldsOf, textOf } from './bson-shape.ts';
import { Fault } from './faults.ts';
import { limits } from './limits.ts';

const opcode = { reply: 1, query: 2004, message: 2013 } as const;
const flag = { checksumPresent: 1, moreToCome: 2 } as const;
/** The lower half of the flags: a receiver must know these. */
const MANDATORY_FLAGS = 0xffff;

export interface Request {
  id: number;
  /** An old hello, which gets a reply in the old form. */
  isQuery: boolean;
  /** The client waits for no reply. */
  isUnanswered: boolean;
  name: string;
  database: string;
  body: Buffer;
  fields: Map<string, Field>;
  /** Documents sent beside the body, joined, by the name of their list. */
  sequences: Map<string, Buffer>;
}

export function parseRequest(message: Buffer): Request {
  const kind = message.readInt32LE(12);
  if (kind === opcode.message) return parseMessage(message);
  if (kind === opcode.query) return parseQuery(message);
  throw new Fault('ProtocolError', `a message of kind ${kind}, which is not understood`);
}

function parseMessage(message: Buffer): Request {
  if (message.length < 26) throw new Fault('ProtocolError', 'a message that is too short');
  const flags = message.readUInt32LE(16);
  if (flags & MANDATORY_FLAGS & ~(flag.checksumPresent | flag.moreToCome)) {
    throw new Fault('ProtocolError', 'a message with unknown flags');
  }
  const end = message.length - (flags & flag.checksumPresent ? 4 : 0);
  let body: Buffer | null = null;
  const sequences = new Map<string, Buffer>();
  for (let at = 20, sections = 0; at < end; sections++) {
    if (sections > limits.sections) throw new Fault('ProtocolError', 'a message of too many sections');
    const section = message[at++];
    if (section === 0 && body === null) {
      const bodyEnd = checkedEnd(message, at, end);
      body = message.subarray(at, bodyEnd);
      at = bodyEnd;
    } else if (section === 1) {
      const sequence = parseSequence(message, at, end);
      if (sequences.has(sequence.name)) throw new Fault('ProtocolError', 'a sequence that came twice');
      sequences.set(sequence.name, sequence.documents);
      at = sequence.end;
    } else {
      throw new Fault('ProtocolError', 'a message with an unknown section');
    }
  }
  if (body === null) throw new Fault('ProtocolError', 'a message without a body');
  const isUnanswered = (flags & flag.moreToCome) !== 0;
  return { id: message.readInt32LE(4), isQuery: false, isUnanswered, ...read(body), sequences };
}

function parseSequence(
  message: Buffer,
  start: number,
  limit: number,
): { name: string; documents: Buffer; end: number } {
  if (start + 5 > limit) throw new Fault('ProtocolError', 'a sequence that is too short');
  const end = start + message.readInt32LE(start);
  const nameEnd = message.indexOf(0, start + 4);
  if (end > limit || nameEnd < 0 || nameEnd >= end)
    throw new Fault('ProtocolError', 'a sequence without its end');
  let count = 0;
  for (let at = nameEnd + 1; at < end; count++) {
    if (count >= limits.writesPerCommand)
      throw new Fault('InvalidLength', 'more documents than one command may have');
    at = checkedEnd(message, at, end);
  }
  return {
    name: message.toString('utf8', start + 4, nameEnd),
    documents: message.subarray(nameEnd + 1, end),
    end,
  };
}

/** Layout: flags, collection, skip, count, then the command. */
function parseQuery(message: Buffer): Request {
  const nameEnd = message.indexOf(0, 20);
  if (nameEnd < 0 || nameEnd + 9 > message.length)
    throw new Fault('ProtocolError', 'a query that is too short');
  const database = message.toString('utf8', 20, nameEnd).replace(/\.\$cmd$/, '');
  const start = nameEnd + 9;
  const body = message.subarray(start, checkedEnd(message, start, message.length));
  const request = read(body);
  return {
    ...{ id: message.readInt32LE(4), isQuery: true, isUnanswered: false, sequences: new Map() },
    ...{ ...request, database },
  };
}

/** The first field names the command. */
function read(body: Buffer): Pick<Request, 'name' | 'database' | 'body' | 'fields'> {
  const fields = fieldsOf(body);
  const database =
    textOf(
      body,
      fields.find(({ name }) => name === '$db'),
    ) ?? 'admin';
  return {
    name: fields[0]?.name ?? '',
    database,
    body,
    fields: new Map(fields.map((field) => [field.name, field])),
  };
}

let replies = 0;

/** @returns head and document, to be written one after the other. */
export function encodeReply(
  request: Pick<Request, 'id' | 'isQuery'>,
  document: Uint8Array,
): [Buffer, Uint8Array] {
  const head = Buffer.alloc(request.isQuery ? 36 : 21);
  replies = (replies + 1) & 0x7fffffff;
  head.writeInt32LE(head.length + document.length, 0);
  head.writeInt32LE(replies, 4);
  head.writeInt32LE(request.id, 8);
  head.writeInt32LE(request.isQuery ? opcode.reply : opcode.message, 12);
  // An old reply's fields: the server waits for data, as every one does, and one document follows.
  if (request.isQuery) {
    head.writeInt32LE(8, 16);
    head.writeInt32LE(1, 32);
  }
  return [head, document];
}
