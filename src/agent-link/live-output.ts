/**
 * Live output in an agent's answer: items that name a stream, each with a piece of its bytes, before the result.
 * Root in the sandbox may send anything in its place, so pieces are bounded; so are their number and all of them
 * together, unless they come only as fast as their reader takes them.
 */
import { z } from 'zod';
import type { LiveOutput, LivePiece } from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';
import { ProtocolError } from './frames.ts';
import { parseReply } from './replies.ts';

const head = z.strictObject({
  live: z.enum(['stdout', 'stderr']),
  left_out: z.int().min(0).max(Number.MAX_SAFE_INTEGER),
});

const NOTHING = Buffer.alloc(0);

export class LiveOutputReader {
  readonly #output: LiveOutput;
  readonly #wait: (until: Promise<void>) => void;
  readonly #mixed: boolean;
  /** The stream of the data that follows; null before the first piece and after the last. */
  #stream: LivePiece['stream'] | null = null;
  /** Bytes that are missing before that data. */
  #leftOutBytes = 0;
  #ended = false;
  #pieceBytes = 0;
  #callBytes = 0;

  /**
   * @param wait Receives what the answer has to wait for.
   * @param mixed Parts of the result may come between.
   */
  constructor(output: LiveOutput, wait: (until: Promise<void>) => void, mixed = false) {
    this.#output = output;
    this.#wait = wait;
    this.#mixed = mixed;
  }

  /** Takes an item. Returns false for a part of the result, which ends all live output unless they are mixed. */
  item(json: unknown, bytes: number): boolean {
    this.#showGap();
    if (!namesLive(json)) {
      this.#stream = null;
      this.#ended = !this.#mixed;
      return false;
    }
    if (this.#ended) throw new ProtocolError('live output after a part of the result');
    if (bytes > limits.live.headBytes) throw new ProtocolError('live output with a large head');
    const { live, left_out } = parseReply(head, json);
    this.#stream = live;
    this.#leftOutBytes = left_out;
    this.#pieceBytes = 0;
    this.#count(limits.live.pieceCostBytes);
    return true;
  }

  /** Takes data. Returns false when it belongs to something else. */
  data(bytes: Buffer): boolean {
    if (!this.#stream) return false;
    this.#pieceBytes += bytes.length;
    if (this.#pieceBytes > limits.live.pieceBytes) throw new ProtocolError('a large piece of live output');
    this.#count(bytes.length);
    this.#show(this.#stream, bytes);
    return true;
  }

  /** Takes no more. */
  end(): void {
    this.#showGap();
    this.#ended = true;
    this.#stream = null;
  }

  /** Names a gap that no data followed. */
  #showGap(): void {
    if (this.#stream && this.#leftOutBytes > 0) this.#show(this.#stream, NOTHING);
  }

  #show(stream: LivePiece['stream'], bytes: Buffer): void {
    const leftOutBytes = this.#leftOutBytes;
    this.#leftOutBytes = 0;
    const room = this.#output.show({ stream, bytes, leftOutBytes });
    if (room && this.#output.whole) this.#wait(room);
  }

  #count(bytes: number): void {
    if (this.#output.whole) return;
    this.#callBytes += bytes;
    if (this.#callBytes > limits.live.callBytes) throw new ProtocolError('too much live output');
  }
}

function namesLive(json: unknown): boolean {
  return typeof json === 'object' && json !== null && 'live' in json;
}
