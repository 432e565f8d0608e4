/** DNS messages (RFC 1035): reads a query, and writes an answer of addresses. */

export interface Query {
  /** In lower case, without the last dot. */
  name: string;
  type: number;
  /** The bytes from the message's begin to the end of its only question. */
  asked: Buffer;
}

export const TYPE_A = 1;
export const NO_ERROR = 0;
export const NAME_ERROR = 3;

const HEADER_BYTES = 12;
const CLASS_IN = 1;
const TTL_SECONDS = 5;
/** A response that was authoritative, from a server that resolves: QR, AA and RA. */
const RESPONSE_FLAGS = 0x8480;
const RECURSION_DESIRED = 0x0100;
/** So that an answer fits the 512 bytes of UDP. */
const MAX_ADDRESSES = 12;

/** Returns null for anything but a standard query with one question. */
export function readQuery(message: Buffer): Query | null {
  if (message.length < HEADER_BYTES) return null;
  const flags = message.readUInt16BE(2);
  const isStandardQuery = (flags & 0xf800) === 0;
  if (!isStandardQuery || message.readUInt16BE(4) !== 1) return null;
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (;;) {
    const length = message[at];
    // A question comes first, so it has no name before it to point to.
    if (length === undefined || length > 63) return null;
    at += 1;
    if (length === 0) break;
    labels.push(message.toString('latin1', at, at + length).toLowerCase());
    at += length;
  }
  if (message.length < at + 4) return null;
  return { name: labels.join('.'), type: message.readUInt16BE(at), asked: message.subarray(0, at + 4) };
}

/** @param addresses Of IPv4. Those beyond the first twelve are left out. */
export function writeAnswer({ asked }: Query, code: number, addresses: string[]): Buffer {
  const answers = addresses.slice(0, MAX_ADDRESSES);
  const question = Buffer.from(asked);
  question.writeUInt16BE(RESPONSE_FLAGS | (question.readUInt16BE(2) & RECURSION_DESIRED) | code, 2);
  question.writeUInt16BE(answers.length, 6);
  question.writeUInt32BE(0, 8);
  return Buffer.concat([question, ...answers.map(record)]);
}

function record(address: string): Buffer {
  const made = Buffer.alloc(16);
  // The name of the question.
  made.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
  made.writeUInt16BE(TYPE_A, 2);
  made.writeUInt16BE(CLASS_IN, 4);
  made.writeUInt32BE(TTL_SECONDS, 6);
  made.writeUInt16BE(4, 10);
  made.set(address.split('.').map(Number), 12);
  return made;
}
