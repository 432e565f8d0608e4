/** Writes lines at the speed of their reader. */
import type { Writable } from 'node:stream';

export class Output {
  readonly #stream: Writable;
  /** Of all writers that wait. */
  #drained: Promise<void> | null = null;

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  /** Resolves when the reader wants more; at once where it has gone, since its end ends the bridge. */
  async write(text: string): Promise<void> {
    const stream = this.#stream;
    if (stream.destroyed || stream.write(`${text}\n`)) return;
    this.#drained ??= new Promise<void>((resolve) => {
      const done = () => {
        stream.off('drain', done);
        stream.off('close', done);
        this.#drained = null;
        resolve();
      };
      stream.on('drain', done);
      stream.on('close', done);
    });
    await this.#drained;
  }
}
