/**
 * Output of a program on the streams of this process: each byte once, as it comes, and no faster than it is taken. What
 * is missing is named on standard error, never among the output.
 */
import { once } from 'node:events';
import type { LiveOutput, LivePiece } from '../../control/ports/index.ts';
import type { CliIo } from './io.ts';

type Stream = LivePiece['stream'];

/** Says that so many bytes are not there. */
export function missing(bytes: number): string {
  return `${bytes} bytes of the output are missing: they came too fast to be kept.\n`;
}

export class ShownOutput implements LiveOutput {
  readonly whole = true;
  readonly #io: CliIo;
  readonly #places: Record<Stream, CliIo[Stream]>;
  readonly #shown = new Set<Stream>();

  /** @param both Where both streams are printed; by default each on its own. */
  constructor(io: CliIo, both?: CliIo['stdout']) {
    this.#io = io;
    this.#places = { stdout: both ?? io.stdout, stderr: both ?? io.stderr };
  }

  show({ stream, bytes, leftOutBytes }: LivePiece): Promise<void> | undefined {
    this.#shown.add(stream);
    if (leftOutBytes > 0) this.#io.stderr.write(missing(leftOutBytes));
    if (bytes.length === 0 || this.#places[stream].write(bytes)) return undefined;
    // An interrupt ends the call, and with it the wait.
    return once(this.#places[stream], 'drain', { signal: this.#io.signal }).then(
      () => {},
      () => {},
    );
  }

  /** true: some of these streams has been shown. */
  has(...streams: Stream[]): boolean {
    return streams.some((stream) => this.#shown.has(stream));
  }
}
