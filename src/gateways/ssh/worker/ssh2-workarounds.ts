/**
 * Closes the gaps of ssh2 1.17 as a server, in one place. It touches fields that ssh2 does not document, so
 * the version is pinned, and the tests of this gateway show each gap:
 *
 * - Requests on a running program are dropped once its input has ended, and left unanswered when they want an
 * answer (PuTTY waits for one).
 * - A client that sends more than its window is buffered without bound.
 * - A channel's close by the client is not reported while bytes of it are unread.
 * - A refused channel and an ended connection carry no description.
 */
import type { Duplex } from 'node:stream';
import type { Connection, ServerChannel, Session } from 'ssh2';

/** Requests of a client to a running program. */
export interface ProgramRequests {
  resize(size: { columns: number; rows: number }): void;
  signal(name: string): void;
}

type RequestHandler = (
  protocol: Protocol,
  recipient: number,
  type: string,
  wantReply: boolean,
  data: unknown,
) => void;

interface Protocol {
  _handlers: {
    CHANNEL_REQUEST: RequestHandler;
    CHANNEL_CLOSE(protocol: Protocol, recipient: number): void;
  };
  channelFailure(recipient: number): void;
  channelSuccess(recipient: number): void;
  channelOpenFail(recipient: number, reason: number, description: string): void;
  /** Set during a key exchange, when nothing else may be sent. */
  _kexinit: unknown;
  _cipher: { encrypt(packet: Buffer): void };
  _packetRW: {
    write: { allocStart: number; alloc(bytes: number): Buffer; finalize(packet: Buffer): Buffer };
  };
}

interface Insides {
  _sock: Duplex;
  _protocol: Protocol;
  _chanMgr: { get(id: number): unknown };
}

interface Window {
  id: number;
  window: number;
}

const DISCONNECT = 1;
const BY_APPLICATION = 11;
/** Type, reason, and the lengths of description and language. */
const DISCONNECT_BYTES = 1 + 4 + 4 + 4;

const running = new WeakMap<object, ProgramRequests>();
const closings = new WeakMap<object, () => void>();

/** Must run once per connection, before anything is opened on it. */
export function closeGaps(connection: Connection): void {
  const { _protocol: protocol, _chanMgr: channels } = connection as unknown as Insides;
  const handlers = protocol._handlers;
  const { CHANNEL_REQUEST: request, CHANNEL_CLOSE: close } = handlers;
  handlers.CHANNEL_REQUEST = (self, recipient, type, wantReply, data) => {
    const session = channels.get(recipient);
    const program = isObject(session) ? running.get(session) : undefined;
    if (!program) {
      request(self, recipient, type, wantReply, data);
      return;
    }
    const done = obey(program, type, data);
    if (!wantReply) return;
    const { id } = (session as { _chanInfo: { outgoing: Window } })._chanInfo.outgoing;
    if (done) protocol.channelSuccess(id);
    else protocol.channelFailure(id);
  };
  handlers.CHANNEL_CLOSE = (self, recipient) => {
    const channel = channels.get(recipient);
    close(self, recipient);
    if (isObject(channel)) closings.get(channel)?.();
  };
}

/** Routes later requests on this session to the program. */
export function hearRequests(session: Session, program: ProgramRequests): void {
  running.set(session, program);
}

/** `closed` is called when the client closes the channel, even with bytes unread. */
export function whenClosed(channelOrSession: object, closed: () => void): void {
  closings.set(channelOrSession, closed);
}

/** Ends the connection of a client that exceeds its window. */
export function boundInput(channel: ServerChannel, connection: Connection): void {
  const { incoming } = channel as unknown as { incoming: Window };
  const push = channel.push.bind(channel);
  channel.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (incoming.window >= 0) return push(chunk, encoding);
    connection.end();
    return false;
  };
}

/** Ends only our writing; the channel can still be read from, while `end` closes both ways. */
export function sendEof(channel: ServerChannel): void {
  (channel as unknown as { eof(): void }).eof();
}

export const refusals = { connectFailed: 2, resourceShortage: 4 } as const;

/** `reject` sends its answer synchronously, with a reason of its own and no description. */
export function refuseChannel(
  connection: Connection,
  reject: () => void,
  reason: (typeof refusals)[keyof typeof refusals],
  words: string,
): void {
  const { _protocol: protocol } = connection as unknown as Insides;
  const plain = protocol.channelOpenFail;
  protocol.channelOpenFail = (recipient) => plain.call(protocol, recipient, reason, words);
  try {
    reject();
  } finally {
    protocol.channelOpenFail = plain;
  }
}

/** Returns the transport of the connection. */
export function streamOf(connection: Connection): Duplex {
  return (connection as unknown as Insides)._sock;
}

/** Ends the connection with a description that clients show. */
export function disconnect(connection: Connection, words: string): void {
  const { _protocol: protocol, _sock: stream } = connection as unknown as Insides;
  if (protocol._kexinit === undefined && stream.writable) {
    const { write } = protocol._packetRW;
    const text = Buffer.from(words);
    const packet = write.alloc(DISCONNECT_BYTES + text.length);
    let at = packet.writeUInt8(DISCONNECT, write.allocStart);
    at = packet.writeUInt32BE(BY_APPLICATION, at);
    at = packet.writeUInt32BE(text.length, at);
    at += text.copy(packet, at);
    packet.writeUInt32BE(0, at);
    protocol._cipher.encrypt(write.finalize(packet));
    stream.end();
  } else {
    connection.end();
  }
}

function obey(program: ProgramRequests, type: string, data: unknown): boolean {
  if (type === 'signal' && typeof data === 'string') {
    program.signal(data);
    return true;
  }
  if (type === 'window-change' && isObject(data)) {
    const { cols, rows } = data as { cols: number; rows: number };
    program.resize({ columns: cols, rows });
    return true;
  }
  return false;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
