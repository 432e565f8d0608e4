/**
 * Live output as `output` events. What a slow client finds no room for on its connection is left out and counted, and the
 * next event of that stream says so. A client that asks for bytes gets all of them: its program waits for it.
 */
import type { ServerResponse } from 'node:http';
import type { LiveOutput, LivePiece } from '../../../control/ports/index.ts';
import { limits } from '../../../model/limits.ts';
import { OutputText, type PieceOfText } from '../../../model/output/output-text.ts';
import { event } from './server-event.ts';

export interface OutputEvents extends LiveOutput {
  /** Sends what is left, before the result. */
  end(): void;
}

export class OutputBytes implements OutputEvents {
  readonly whole = true;
  readonly #raw: ServerResponse;
  #drained: Promise<void> | undefined;

  constructor(raw: ServerResponse) {
    this.#raw = raw;
  }

  show({ stream, bytes, leftOutBytes }: LivePiece): Promise<void> | undefined {
    const raw = this.#raw;
    if (raw.writableEnded) return undefined;
    const base64 = bytes.toString('base64');
    raw.write(event('output', { stream, base64, ...gap(leftOutBytes) }));
    if (!raw.writableNeedDrain) return undefined;
    this.#drained ??= new Promise((resolve) => {
      const over = () => {
        raw.off('drain', over).off('close', over);
        this.#drained = undefined;
        resolve();
      };
      // Nobody waits for a client that has left.
      raw.on('drain', over).on('close', over);
    });
    return this.#drained;
  }

  end(): void {}
}

export class OutputTexts implements OutputEvents {
  readonly whole = false;
  readonly #raw: ServerResponse;
  readonly #decoded = new OutputText();
  readonly #leftOutBytes: Record<LivePiece['stream'], number> = { stdout: 0, stderr: 0 };

  constructor(raw: ServerResponse) {
    this.#raw = raw;
  }

  show(piece: LivePiece): undefined {
    this.#send(piece.stream, this.#decoded.of(piece));
  }

  /** Names what was left out last, too. */
  end(): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      this.#send(stream, this.#decoded.restOf(stream));
      if (this.#leftOutBytes[stream] > 0) this.#write(stream, '');
    }
  }

  #send(stream: LivePiece['stream'], { text, leftOutBytes }: PieceOfText): void {
    this.#leftOutBytes[stream] += leftOutBytes;
    if (text === '') return;
    if (this.#raw.writableLength <= limits.live.heldBytes) this.#write(stream, text);
    else this.#leftOutBytes[stream] += Buffer.byteLength(text);
  }

  #write(stream: LivePiece['stream'], text: string): void {
    if (this.#raw.writableEnded) return;
    const leftOut = this.#leftOutBytes[stream];
    this.#leftOutBytes[stream] = 0;
    this.#raw.write(event('output', { stream, text, ...gap(leftOut) }));
  }
}

function gap(bytes: number): { left_out_bytes?: number } {
  return bytes > 0 ? { left_out_bytes: bytes } : {};
}
