/**
 * Queries: one question in, from an untrusted machine, and the same question out to a resolver. A message that
 * does not parse to its last byte is refused; only the question of a machine's message is forwarded.
 */
import { Crowd } from '../../../../fairness/crowd.ts';
import { type Bucket, takeOne } from '../../../../fairness/rate.ts';
import { Shares } from '../../../../fairness/shares.ts';
import { limits } from '../../../../model/limits.ts';
import {
  counts,
  flag,
  header,
  headerBytes,
  optRecord,
  recordTypes,
  responseCodes,
  skipName,
} from './wire.ts';

const classInternet = 1;

export interface Question {
  id: number;
  /** Name, type and class as the machine sent them, uncompressed. */
  question: Buffer;
  type: number;
  /** Bytes that the asker accepts over UDP; null without EDNS. */
  udpBytes: number | null;
}

/** Query that is not forwarded, with the response code of its refusal. */
export interface Refusal {
  id: number;
  refusal: number;
}

/** @returns null for a message that is no query; it gets no answer. */
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

/** Encodes the answer to a query refused as a whole: a header alone. */
export function encodeRefusal({ id, refusal }: Refusal): Buffer {
  const message = header(id, flag.response | flag.recursionAvailable | refusal, 0, 0);
  message.writeUInt16BE(0, 4);
  return message;
}

function readQuestion(message: Buffer): Buffer | null {
  const end = skipName(message, headerBytes, false);
  if (end === null || end + 4 > message.length) return null;
  return Buffer.from(message.subarray(headerBytes, end + 4));
}

/** Returns the size in an OPT record that ends the message; undefined for anything else. */
function readOpt(message: Buffer, at: number): number | undefined {
  if (at + 11 > message.length || message[at] !== 0) return undefined;
  if (message.readUInt16BE(at + 1) !== recordTypes.OPT) return undefined;
  return at + 11 + message.readUInt16BE(at + 9) === message.length ? message.readUInt16BE(at + 3) : undefined;
}

// Shares of the DNS forwarder. Each machine has bounds on queries per second (UDP and TCP together), on queries that
// wait for a resolver, and on connections. No owner keeps the whole, however many machines they have: when it is full,
// an owner with few places takes one from the owner with most.

const bounds = limits.network;
const rate = { perSecond: bounds.dnsQueriesPerSecond, burst: bounds.dnsQueryBurst };

export class DnsShares {
  /** Rates by address; at most one per slot. */
  readonly #rates = new Map<string, Bucket>();
  readonly waiting: DnsPlaces;
  readonly connections: DnsPlaces;

  constructor(ownerOf: (address: string) => string) {
    this.waiting = new DnsPlaces(bounds.dnsQueriesInFlight, bounds.dnsQueriesInFlightPerSandbox, ownerOf);
    this.connections = new DnsPlaces(bounds.dnsConnections, bounds.dnsConnectionsPerSandbox, ownerOf);
  }

  /** Takes one query from the rate and returns 0; otherwise returns the milliseconds until one is free. */
  query(address: string, now: number = performance.now()): number {
    const { bucket, waitMs } = takeOne(rate, this.#rates.get(address), now);
    this.#rates.set(address, bucket);
    return waitMs;
  }
}

class DnsPlaces {
  readonly #machines: Shares;
  readonly #owners: Crowd;
  readonly #ownerOf: (address: string) => string;

  constructor(total: number, perMachine: number, ownerOf: (address: string) => string) {
    this.#machines = new Shares({ total, perOwner: perMachine, what: 'places are taken' });
    this.#owners = new Crowd({ total, perGroup: total });
    this.#ownerOf = ownerOf;
  }

  /** Enters like `Crowd.enter`; returns null also when the machine has its whole share. */
  enter(address: string, evict: () => void): (() => void) | null {
    if (!this.#machines.hasShare(address, 1)) return null;
    let release = () => {};
    const leave = this.#owners.enter(this.#ownerOf(address), () => {
      release();
      evict();
    });
    if (!leave) return null;
    release = this.#machines.take(address);
    return () => {
      leave();
      release();
    };
  }
}
