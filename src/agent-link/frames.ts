/**
 * Frames of the agent protocol: a 32-bit little-endian payload length, a type byte, the payload.
 * protocol/README.md holds the contract and protocol/frames the golden bytes.
 */
import { type JsonBounds, judgeJson } from '../model/json-bounds.ts';
import { limits } from '../model/limits.ts';

export const frameTypes = { request: 1, reply: 2, error: 3, item: 4, data: 5, end: 6 } as const;
export type FrameType = (typeof frameTypes)[keyof typeof frameTypes];

const HEADER_BYTES = 5;

/** Violation of the protocol by the other side. */
export class ProtocolError extends Error {}

/** Bounds of an answer's JSON. */
export interface FrameBounds extends JsonBounds {
  bytes: number;
  /** JSON over the bounds becomes `undefined` instead of ending the answer. */
  leavesOut?: boolean;
}

export const usualBounds: FrameBounds = { ...limits.agentJson, bytes: limits.agentFrameBytes };
export const errorBounds: FrameBounds = { ...limits.agentJson, bytes: limits.agentErrorBytes };

/**
 * Receives the frames of a parser. Data comes in pieces as it arrives, without a copy; small pieces are gathered into
 * one. Every other frame comes whole.
 */
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

export function parseJson(payload: Buffer, bounds: FrameBounds = usualBounds): unknown {
  if (payload.length > bounds.bytes) throw new ProtocolError(`an answer of ${payload.length} bytes`);
  const verdict = judgeJson(payload, bounds);
  if (verdict !== 'fits' && bounds.leavesOut) return undefined;
  if (verdict !== 'fits') throw new ProtocolError(`an answer with JSON that is ${verdict}`);
  try {
    return JSON.parse(payload.toString('utf8'));
  } catch (error) {
    throw new ProtocolError('a frame that is not JSON', { cause: error });
  }
}

/** Parses a byte stream in chunks of any length. `push` throws ProtocolError on an invalid frame. */
export class FrameParser {
  readonly #sink: FrameSink;
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerLength = 0;
  #type: FrameType = frameTypes.end;
  /** Missing payload bytes of the current frame. */
  #remaining = 0;
  #parts: Buffer[] = [];
  /** Small pieces of data not passed on yet, copied one after the other, up to `#gatheredBytes`. */
  #gathered: Buffer | null = null;
  #gatheredBytes = 0;

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
        const length = Math.min(this.#remaining, chunk.length - at);
        this.#remaining -= length;
        this.#take(chunk, at, length);
        at += length;
      }
    }
    this.#passGathered();
  }

  /** True where the stream may end. */
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

  #take(chunk: Buffer, at: number, length: number): void {
    if (this.#type !== frameTypes.data) this.#parts.push(chunk.subarray(at, at + length));
    else if (length < limits.loop.pieceBytes) this.#gather(chunk, at, length);
    else {
      this.#passGathered();
      this.#sink.data(chunk.subarray(at, at + length));
    }
    if (this.#remaining === 0) this.#finish();
  }

  /** Gathers small pieces: a piece costs its consumer more than its bytes, so a frame of one byte must not make one. */
  #gather(chunk: Buffer, at: number, length: number): void {
    if (this.#remaining > 0 && this.#gatheredBytes === 0) {
      this.#sink.data(chunk.subarray(at, at + length));
      return;
    }
    // Gathered bytes never exceed the rest of this chunk.
    this.#gathered ??= Buffer.allocUnsafe(chunk.length - at);
    chunk.copy(this.#gathered, this.#gatheredBytes, at, at + length);
    this.#gatheredBytes += length;
  }

  #passGathered(): void {
    const gathered = this.#gathered?.subarray(0, this.#gatheredBytes);
    this.#gathered = null;
    this.#gatheredBytes = 0;
    if (gathered && gathered.length > 0) this.#sink.data(gathered);
  }

  #finish(): void {
    this.#headerLength = 0;
    if (this.#type === frameTypes.data) return;
    this.#passGathered();
    const [only, ...others] = this.#parts;
    const payload = only && others.length === 0 ? only : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#sink.frame(this.#type, payload);
  }
}

function isFrameType(type: number | undefined): type is FrameType {
  return type !== undefined && type >= frameTypes.request && type <= frameTypes.end;
}

function maxBytes(type: FrameType): number {
  if (type === frameTypes.end) return 0;
  return type === frameTypes.data ? limits.agentDataFrameBytes : limits.agentFrameBytes;
}
