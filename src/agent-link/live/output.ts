/**
 * Live output in an agent's answer: items that name a stream, each with a piece of its bytes, before the result.
 * Root in the sandbox may send anything in its place, so pieces, their number and all of them together are bounded.
 */
import { z } from 'zod';
import type { LiveOutput, LivePiece } from '../../control/ports/index.ts';
import { limits } from '../../model/limits.ts';
import { ProtocolError } from '../frames.ts';
import { parseReply } from '../replies.ts';

type Stream = LivePiece['stream'];

const head = z.strictObject({
  live: z.enum(['stdout', 'stderr']),
  left_out: z.int().min(0).max(Number.MAX_SAFE_INTEGER),
});

export class LiveOutputReader {
  readonly #output: LiveOutput;
  readonly #texts: Record<Stream, StreamText> = { stdout: new StreamText(), stderr: new StreamText() };
  /** The stream of the data that follows; null before the first piece and after the last. */
  #stream: Stream | null = null;
  #ended = false;
  #pieceBytes = 0;
  #callBytes = 0;

  constructor(output: LiveOutput) {
    this.#output = output;
  }

  /** Takes an item. Returns false for a part of the result, which ends all live output. */
  item(json: unknown, bytes: number): boolean {
    if (!namesLive(json)) {
      this.end();
      return false;
    }
    if (this.#ended) throw new ProtocolError('live output after a part of the result');
    if (bytes > limits.live.headBytes) throw new ProtocolError('live output with a large head');
    const { live, left_out } = parseReply(head, json);
    this.#stream = live;
    this.#pieceBytes = 0;
    this.#count(limits.live.pieceCostBytes);
    if (left_out > 0) this.#texts[live].gap(left_out);
    return true;
  }

  /** Takes data. Returns false when it belongs to something else. */
  data(bytes: Buffer): boolean {
    const stream = this.#stream;
    if (!stream) return false;
    this.#pieceBytes += bytes.length;
    if (this.#pieceBytes > limits.live.pieceBytes) throw new ProtocolError('a large piece of live output');
    this.#count(bytes.length);
    this.#show(stream, this.#texts[stream].text(bytes));
    return true;
  }

  /** Shows what is left, and takes no more. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#stream = null;
    for (const stream of ['stdout', 'stderr'] as const) this.#show(stream, this.#texts[stream].rest());
  }

  #show(stream: Stream, { text, leftOutBytes }: Omit<LivePiece, 'stream'>): void {
    if (text !== '' || leftOutBytes > 0) this.#output({ stream, text, leftOutBytes });
  }

  #count(bytes: number): void {
    this.#callBytes += bytes;
    if (this.#callBytes > limits.live.callBytes) throw new ProtocolError('too much live output');
  }
}

function namesLive(json: unknown): boolean {
  return typeof json === 'object' && json !== null && 'live' in json;
}

/** Decodes one stream from UTF-8. A character whose rest is yet to come waits; one with a gap in it is left out. */
class StreamText {
  /** Begin of a character. */
  #begun: Buffer = Buffer.alloc(0);
  #leftOutBytes = 0;
  #afterGap = false;

  gap(bytes: number): void {
    this.#leftOutBytes += bytes + this.#begun.length;
    this.#begun = Buffer.alloc(0);
    this.#afterGap = true;
  }

  text(piece: Buffer): Omit<LivePiece, 'stream'> {
    let bytes = this.#begun.length > 0 ? Buffer.concat([this.#begun, piece]) : piece;
    if (this.#afterGap) {
      const skipped = restOfCharacter(bytes);
      this.#leftOutBytes += skipped;
      bytes = bytes.subarray(skipped);
      this.#afterGap = false;
    }
    const whole = bytes.length - incompleteSuffix(bytes);
    this.#begun = Buffer.from(bytes.subarray(whole));
    return this.#withGap(bytes.toString('utf8', 0, whole));
  }

  /** Returns what the stream ended with. */
  rest(): Omit<LivePiece, 'stream'> {
    return this.#withGap(this.#begun.toString('utf8'));
  }

  /** Names a gap in front of the next text, or alone at the end. */
  #withGap(text: string): Omit<LivePiece, 'stream'> {
    const leftOutBytes = this.#leftOutBytes;
    this.#leftOutBytes = 0;
    return { text, leftOutBytes };
  }
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Counts the bytes at the beginning that end a character which began before. */
function restOfCharacter(bytes: Buffer): number {
  let count = 0;
  while (count < 3 && isContinuation(bytes[count])) count += 1;
  return count;
}

/** Counts the bytes at the end that begin a character and do not complete it. */
function incompleteSuffix(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (!isContinuation(byte)) return lengthFrom(byte) > back ? back : 0;
  }
  return 0;
}

/** Returns the length of a character from its first byte. */
function lengthFrom(byte: number): number {
  if (byte >= 0xc2 && byte <= 0xdf) return 2;
  if (byte >= 0xe0 && byte <= 0xef) return 3;
  return byte >= 0xf0 && byte <= 0xf4 ? 4 : 1;
}
