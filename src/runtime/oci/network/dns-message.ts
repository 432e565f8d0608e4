/**
 * The little of DNS messages (RFC 1035, 6891) that the forwarder needs: one question in, and out of an answer
 * only its answer section, with the addresses in it. Both come from parties that are not trusted; what does
 * not parse to the last byte is refused.
 */

export const recordTypes = { A: 1, AAAA: 28, OPT: 41, ANY: 255 } as const;
export const responseCodes = {
  ok: 0,
  malformed: 1,
  failed: 2,
  noSuchName: 3,
  notImplemented: 4,
  refused: 5,
} as const;

const headerBytes = 12;
const maxNameBytes = 255;
const maxLabelBytes = 63;
const classInternet = 1;
/** QR, opcode, TC, RD in the header's second word. */
const flag = {
  response: 0x8000,
  opcode: 0x7800,
  truncated: 0x0200,
  recursionDesired: 0x0100,
  recursionAvailable: 0x0080,
};
const minUdpBytes = 512;

export interface Question {
  id: number;
  /** Name, type and class as the machine sent them, uncompressed. */
  question: Buffer;
  type: number;
  /** What the asker takes by UDP; null without EDNS. */
  udpBytes: number | null;
}

/** A message that is a query, but none that is forwarded. */
export interface Refusal {
  id: number;
  refusal: number;
}

export interface Answer {
  responseCode: number;
  truncated: boolean;
  count: number;
  /** The answer section. Its names may point into the question, so it goes after the same question only. */
  records: Buffer;
  ipv4: string[];
  ipv6: string[];
}

/** @returns null for what is not even a query, and gets no answer. */
export function parseQuery(message: Buffer): Question | Refusal | null {
  if (message.length < headerBytes) return null;
  const id = message.readUInt16BE(0);
  const flags = message.readUInt16BE(2);
  if ((flags & flag.response) !== 0) return null;
  if ((flags & flag.opcode) !== 0) return { id, refusal: responseCodes.notImplemented };
  const malformed = { id, refusal: responseCodes.malformed };
  const [questions, answers, authorities, additionals] = counts(message);
  if (questions !== 1 || answers !== 0 || authorities !== 0 || additionals > 1) return malformed;
  const question = readQuestion(message);
  if (question === null) return malformed;
  const udpBytes = additionals === 0 ? null : readOpt(message, headerBytes + question.length);
  if (udpBytes === undefined || (additionals === 0 && message.length !== headerBytes + question.length)) {
    return malformed;
  }
  const type = question.readUInt16BE(question.length - 4);
  if (question.readUInt16BE(question.length - 2) !== classInternet || type === recordTypes.ANY) {
    return { id, refusal: responseCodes.notImplemented };
  }
  return { id, question, type, udpBytes };
}

export function encodeQuery(id: number, question: Buffer, udpBytes: number): Buffer {
  return Buffer.concat([header(id, flag.recursionDesired, 0, 1), question, optRecord(udpBytes)]);
}

/** @returns null when it does not answer this question under this id, or does not parse. */
export function parseAnswer(message: Buffer, id: number, question: Buffer): Answer | null {
  if (message.length < headerBytes + question.length || message.readUInt16BE(0) !== id) return null;
  const flags = message.readUInt16BE(2);
  const [questions, count] = counts(message);
  if ((flags & (flag.response | flag.opcode)) !== flag.response || questions !== 1) return null;
  const echoed = message.subarray(headerBytes, headerBytes + question.length);
  if (!sameQuestion(echoed, question)) return null;
  const truncated = (flags & flag.truncated) !== 0;
  const answer: Answer = {
    responseCode: flags & 0xf,
    truncated,
    count: truncated ? 0 : count,
    records: Buffer.alloc(0),
    ipv4: [],
    ipv6: [],
  };
  // A truncated answer is asked for again by TCP; nothing of it is used.
  if (truncated) return answer;
  const start = headerBytes + question.length;
  const end = readRecords(message, start, count, answer);
  if (end === null) return null;
  answer.records = message.subarray(start, end);
  return answer;
}

/** An answer for the asker; one that is longer than `maxBytes` goes out empty and marked as truncated. */
export function encodeAnswer(asked: Question, answer: Answer, maxBytes: number): Buffer {
  const opt = asked.udpBytes === null ? [] : [optRecord(maxBytes)];
  const build = (flags: number, count: number, records: Buffer) =>
    Buffer.concat([
      header(
        asked.id,
        flag.response | flag.recursionDesired | flag.recursionAvailable | flags,
        count,
        opt.length,
      ),
      asked.question,
      records,
      ...opt,
    ]);
  const whole = build(
    answer.responseCode | (answer.truncated ? flag.truncated : 0),
    answer.count,
    answer.records,
  );
  return whole.length <= maxBytes ? whole : build(flag.truncated, 0, Buffer.alloc(0));
}

/** An answer without records. */
export function emptyAnswer(responseCode: number): Answer {
  return { responseCode, truncated: false, count: 0, records: Buffer.alloc(0), ipv4: [], ipv6: [] };
}

/** The answer to a message that was refused as a whole: its header only. */
export function encodeRefusal({ id, refusal }: Refusal): Buffer {
  const message = header(id, flag.response | flag.recursionAvailable | refusal, 0, 0);
  message.writeUInt16BE(0, 4);
  return message;
}

/** How many bytes of an answer the asker takes by UDP, never above `limit`. */
export function udpLimit(asked: Question, limit: number): number {
  return Math.min(Math.max(asked.udpBytes ?? minUdpBytes, minUdpBytes), limit);
}

function header(id: number, flags: number, answers: number, additionals: number): Buffer {
  const bytes = Buffer.alloc(headerBytes);
  for (const [i, word] of [id, flags, 1, answers, 0, additionals].entries()) bytes.writeUInt16BE(word, i * 2);
  return bytes;
}

function counts(message: Buffer): [number, number, number, number] {
  return [
    message.readUInt16BE(4),
    message.readUInt16BE(6),
    message.readUInt16BE(8),
    message.readUInt16BE(10),
  ];
}

function readQuestion(message: Buffer): Buffer | null {
  const end = skipName(message, headerBytes, false);
  if (end === null || end + 4 > message.length) return null;
  return Buffer.from(message.subarray(headerBytes, end + 4));
}

/** The size in an OPT record that ends the message; undefined when it is anything else. */
function readOpt(message: Buffer, at: number): number | undefined {
  if (at + 11 > message.length || message[at] !== 0) return undefined;
  if (message.readUInt16BE(at + 1) !== recordTypes.OPT) return undefined;
  return at + 11 + message.readUInt16BE(at + 9) === message.length ? message.readUInt16BE(at + 3) : undefined;
}

function optRecord(udpBytes: number): Buffer {
  const record = Buffer.alloc(11);
  record.writeUInt16BE(recordTypes.OPT, 1);
  record.writeUInt16BE(udpBytes, 3);
  return record;
}

/** Collects addresses of any class or owner; returns the end of the section, null when it does not parse. */
function readRecords(message: Buffer, start: number, count: number, found: Answer): number | null {
  let at = start;
  for (let i = 0; i < count; i++) {
    const nameEnd = skipName(message, at, true);
    if (nameEnd === null || nameEnd + 10 > message.length) return null;
    const type = message.readUInt16BE(nameEnd);
    const data = message.subarray(nameEnd + 10, nameEnd + 10 + message.readUInt16BE(nameEnd + 8));
    at = nameEnd + 10 + message.readUInt16BE(nameEnd + 8);
    if (at > message.length) return null;
    if (type === recordTypes.A) {
      if (data.length !== 4) return null;
      found.ipv4.push(data.join('.'));
    } else if (type === recordTypes.AAAA) {
      if (data.length !== 16) return null;
      found.ipv6.push((data.toString('hex').match(/.{4}/g) ?? []).join(':'));
    }
  }
  return at;
}

/** The offset after a name; a pointer ends it and only ever points back. Null when it is not a name. */
function skipName(message: Buffer, start: number, pointers: boolean): number | null {
  let at = start;
  while (at - start < maxNameBytes) {
    const length = message[at];
    if (length === undefined) return null;
    if (length === 0) return at + 1;
    if (length <= maxLabelBytes) {
      at += 1 + length;
      continue;
    }
    if (!pointers || length < 0xc0 || at + 2 > message.length) return null;
    const target = message.readUInt16BE(at) & 0x3fff;
    return target >= headerBytes && target < at ? at + 2 : null;
  }
  return null;
}

/** Equal but for the case of letters, which some resolvers change. */
function sameQuestion(a: Buffer, b: Buffer): boolean {
  return a.toString('latin1').toLowerCase() === b.toString('latin1').toLowerCase();
}
