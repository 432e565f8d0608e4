/**
 * Answers. Of a resolver's reply, which is not trusted either, only the answer section is passed on, and its
 * addresses are known. A reply that does not parse is rejected.
 */
import type { Question } from './query.ts';
import { counts, flag, header, headerBytes, optRecord, recordTypes, skipName } from './wire.ts';

const minUdpBytes = 512;

export interface Answer {
  responseCode: number;
  truncated: boolean;
  count: number;
  /** Answer section. Its names may point into the question, so it may only follow that question. */
  records: Buffer;
  ipv4: string[];
  ipv6: string[];
}

/** @returns null for a message with another question or id, or one that does not parse. */
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
  // A truncated answer is queried again over TCP; none of its records is used.
  if (truncated) return answer;
  const start = headerBytes + question.length;
  const end = readRecords(message, start, count, answer);
  if (end === null) return null;
  answer.records = message.subarray(start, end);
  return answer;
}

/** Encodes an answer for the asker; one longer than `maxBytes` goes out empty and marked as truncated. */
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

/** Returns an answer without records. */
export function emptyAnswer(responseCode: number): Answer {
  return { responseCode, truncated: false, count: 0, records: Buffer.alloc(0), ipv4: [], ipv6: [] };
}

/** Returns the bytes of an answer that the asker accepts over UDP, at most `limit`. */
export function udpLimit(asked: Question, limit: number): number {
  return Math.min(Math.max(asked.udpBytes ?? minUdpBytes, minUdpBytes), limit);
}

/** Collects addresses of any class or name; returns the end of the section, or null when it does not parse. */
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

/** Ignores the case of letters, which some resolvers change. */
function sameQuestion(a: Buffer, b: Buffer): boolean {
  return a.toString('latin1').toLowerCase() === b.toString('latin1').toLowerCase();
}
