/**
 * Procedures by Connect's protocol with JSON: a plain one is a request and an answer, a streaming one a row of envelopes, each
 * with a byte of flags and four of length, of which the last says how it ended. Only what E2B's clients speak.
 */
import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { invalidArgument, SandhavenError } from '../../../model/errors.ts';
import { judgeJson } from '../../../model/json-bounds.ts';
import { limits } from '../../../model/limits.ts';
import { readOn } from '../../http/base/connections.ts';
import type { ConnectError } from '../base/errors.ts';

export type Message = Record<string, unknown>;

const END = 0x02;
const COMPRESSED = 0x01;
const HEAD_BYTES = 5;
/** Of one envelope of a client, held beside others without a share: less than a body of JSON. */
const MESSAGE_BYTES = 1024 * 1024;

/** Envelopes to a client, as fast as it reads them. */
export class Envelopes {
  readonly #reply: FastifyReply;
  readonly #begin: () => void;
  #isOpen = false;
  #keepAlive: NodeJS.Timeout | undefined;

  /** @param begin Called once, before the first. */
  constructor(reply: FastifyReply, begin: () => void) {
    this.#reply = reply;
    this.#begin = begin;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Returns a promise where the client has yet to read what was sent; it never rejects. */
  send(message: Message): Promise<void> | undefined {
    this.#open();
    return this.#write(0, message);
  }

  /** Sends the message whenever so many seconds have passed, so that nobody takes the silence for an end. */
  keepAlive(seconds: number, message: Message): void {
    if (!(seconds >= 1)) return;
    this.#keepAlive = setInterval(() => void this.#write(0, message), seconds * 1_000);
    this.#reply.raw.once('close', () => clearInterval(this.#keepAlive));
  }

  end(error: ConnectError | null): void {
    clearInterval(this.#keepAlive);
    this.#open();
    void this.#write(END, error ? { error } : {});
    this.#reply.raw.end();
  }

  #open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#begin();
    this.#reply.hijack();
    this.#reply.raw.writeHead(200, { 'content-type': 'application/connect+json' });
  }

  #write(flags: number, message: Message): Promise<void> | undefined {
    const { raw } = this.#reply;
    if (raw.destroyed || raw.writableEnded) return undefined;
    const body = Buffer.from(JSON.stringify(message));
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt8(flags, 0);
    head.writeUInt32BE(body.length, 1);
    raw.write(Buffer.concat([head, body]));
    return readOn(raw);
  }
}

/** Yields the messages of a client's stream. */
export async function* messagesOf(body: Readable): AsyncGenerator<Message, void> {
  let chunks: Buffer[] = [];
  let bytes = 0;
  let wanted = HEAD_BYTES;
  // A request that is destroyed has no connection any more, which is needed to end the answer.
  for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    // Joined once for each envelope: a client may send byte by byte.
    while (bytes >= wanted) {
      const held: Buffer = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
      chunks = [held];
      const length = held.readUInt32BE(1);
      if (length > MESSAGE_BYTES) throw new SandhavenError('too_large', 'A message is too large.');
      wanted = HEAD_BYTES + length;
      if (bytes < wanted) break;
      const flags = held.readUInt8(0);
      const message = held.subarray(HEAD_BYTES, wanted);
      chunks = [held.subarray(wanted)];
      bytes -= wanted;
      wanted = HEAD_BYTES;
      if (flags & COMPRESSED) throw invalidArgument('body', 'A message is compressed, and none may be.');
      if (!(flags & END)) yield parsed(message);
    }
  }
}

/** Returns the first message, of procedures that have one. */
export async function messageOf(body: Readable): Promise<Message> {
  for await (const message of messagesOf(body)) return message;
  throw invalidArgument('body', 'The request has no message.');
}

function parsed(text: Buffer): Message {
  if (judgeJson(text, limits.json.body) !== 'fits')
    throw new SandhavenError('too_large', 'A message has too many or too deep values.');
  try {
    return asMessage(JSON.parse(text.toString()));
  } catch {
    throw invalidArgument('body', 'A message must be a JSON object.');
  }
}

export function asMessage(value: unknown): Message {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Message;
  throw invalidArgument('body', 'A message must be a JSON object.');
}

/** Milliseconds that the client waits; null without an end. */
export function timeoutIn({ headers }: FastifyRequest): number | null {
  const text = headers['connect-timeout-ms'];
  return typeof text === 'string' && /^\d{1,10}$/.test(text) && Number(text) > 0 ? Number(text) : null;
}

export function keepAliveIn({ headers }: FastifyRequest): number {
  return Number(headers['keepalive-ping-interval'] ?? 0);
}
