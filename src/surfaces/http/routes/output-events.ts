/**
 * Live output as `output` events. A client that reads slowly has no claim on memory: what finds no room on its
 * connection is left out and counted, and the next event of that stream says so. The result still has it.
 */
import type { ServerResponse } from 'node:http';
import type { LiveOutput, LivePiece } from '../../../control/ports/index.ts';
import { limits } from '../../../model/limits.ts';
import { event } from './server-event.ts';

export class OutputEvents {
  readonly #raw: ServerResponse;
  readonly #leftOutBytes: Record<LivePiece['stream'], number> = { stdout: 0, stderr: 0 };

  constructor(raw: ServerResponse) {
    this.#raw = raw;
  }

  readonly send: LiveOutput = ({ stream, text, leftOutBytes }) => {
    this.#leftOutBytes[stream] += leftOutBytes;
    if (this.#raw.writableLength > limits.live.heldBytes)
      this.#leftOutBytes[stream] += Buffer.byteLength(text);
    else this.#write(stream, text);
  };

  /** Names what was left out last, before the result. */
  end(): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      if (this.#leftOutBytes[stream] > 0) this.#write(stream, '');
    }
  }

  #write(stream: LivePiece['stream'], text: string): void {
    if (this.#raw.writableEnded) return;
    const leftOut = this.#leftOutBytes[stream];
    this.#leftOutBytes[stream] = 0;
    this.#raw.write(event('output', { stream, text, ...(leftOut > 0 ? { left_out_bytes: leftOut } : {}) }));
  }
}
