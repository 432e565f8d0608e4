/**
 * Frames of the agent protocol: a 32-bit little-endian payload length, a type byte, the payload.
 * protocol/README.md holds the contract and protocol/frames the golden bytes.
 */
import { limits } from '../model/limits.ts';

export const frameTypes = { request: 1, reply: 2, error: 3, item: 4, data: 5, end: 6 } as const;
export type FrameType = (typeof frameTypes)[keyof typeof frameTypes];

const HEADER_BYTES = 5;

/** The other side broke the protocol. */
export class ProtocolError extends Error {}

/** What a parser finds. Data comes in pieces as it arrives, without a copy; all else comes whole. */
export interface FrameSink {
  frame(type: FrameType, payload: Buffer): void;
  data(piece: Buffer): void;
}

export function frameHeader(type: FrameType, length: number): Buffer {
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header.writeUInt32LE(length, 0);
  header[4] = type;
  return header;
}

export function encodeJson(type: FrameType, value: unknown): Buffer {
  const payload = Buffer.from(JSON.stringify(value));
  return Buffer.concat([frameHeader(type, payload.length), payload]);
}

export function parseJson(payload: Buffer): unknown {
  try {
    return JSON.parse(payload.toString('utf8'));
  } catch (error) {
    throw new ProtocolError('a frame that is not JSON', { cause: error });
  }
}

/** Takes a byte stream in chunks of any length. `push` throws ProtocolError at what no frame may be. */
export class FrameParser {
  readonly #sink: FrameSink;
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerLength = 0;
  #type: FrameType = frameTypes.end;
  /** Of the present frame, still to come. */
  #remaining = 0;
  #parts: Buffer[] = [];

  constructor(sink: FrameSink) {
    this.#sink = sink;
  }

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#headerLength < HEADER_BYTES) {
        const copied = chunk.copy(this.#header, this.#headerLength, at);
        this.#headerLength += copied;
        at += copied;
        if (this.#headerLength === HEADER_BYTES) this.#begin();
      } else {
        const piece = chunk.subarray(at, at + this.#remaining);
        at += piece.length;
        this.#remaining -= piece.length;
        this.#take(piece);
      }
    }
  }

  /** Whether the stream may end here. */
  get atBoundary(): boolean {
    return this.#headerLength === 0;
  }

  #begin(): void {
    const type = this.#header[4];
    if (!isFrameType(type)) throw new ProtocolError(`unknown frame type ${type}`);
    this.#type = type;
    this.#remaining = this.#header.readUInt32LE(0);
    if (this.#remaining > maxBytes(type)) throw new ProtocolError(`a frame of ${this.#remaining} bytes`);
    if (this.#remaining === 0) this.#finish();
  }

  #take(piece: Buffer): void {
    if (this.#type === frameTypes.data) this.#sink.data(piece);
    else this.#parts.push(piece);
    if (this.#remaining === 0) this.#finish();
  }

  #finish(): void {
    this.#headerLength = 0;
    if (this.#type === frameTypes.data) return;
    const [only, ...others] = this.#parts;
    const payload = only && others.length === 0 ? only : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#sink.frame(this.#type, payload);
  }
}

function isFrameType(type: number | undefined): type is FrameType {
  return Object.values(frameTypes).some((known) => known === type);
}

function maxBytes(type: FrameType): number {
  if (type === frameTypes.end) return 0;
  return type === frameTypes.data ? limits.agentDataFrameBytes : limits.agentFrameBytes;
}
