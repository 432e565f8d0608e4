/** Writes a multipart form part by part, as fast as its reader takes it. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { SandhavenError } from '../../model/errors.ts';
import { headOf, type PartHead } from './head.ts';

export class MultipartWriter {
  /** Of the whole form. */
  readonly type: string;
  readonly #to: Writable;
  readonly #signal: AbortSignal;
  /** Too long for any content to hold it by chance. */
  readonly #boundary = `part-${randomBytes(24).toString('hex')}`;

  /** @param signal Aborted when the reader has gone. */
  constructor(to: Writable, signal: AbortSignal) {
    this.#to = to;
    this.#signal = signal;
    this.type = `multipart/form-data; boundary=${this.#boundary}`;
  }

  /** Rejects when the content is shorter than its announced length; of a longer one only that is written. */
  async part(head: PartHead, content: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<void> {
    await this.#write(`--${this.#boundary}\r\n${headOf(head)}`);
    let left = head.length ?? Number.POSITIVE_INFINITY;
    for await (const chunk of content) {
      const piece = chunk.length > left ? chunk.subarray(0, left) : chunk;
      left -= piece.length;
      await this.#write(piece);
      if (left === 0) break;
    }
    if (head.length !== undefined && left > 0) {
      throw new SandhavenError('unavailable', 'The content of a part is shorter than announced.');
    }
    await this.#write('\r\n');
  }

  async end(): Promise<void> {
    await this.#write(`--${this.#boundary}--\r\n`);
  }

  async #write(bytes: Buffer | string): Promise<void> {
    if (!this.#to.write(bytes)) await once(this.#to, 'drain', { signal: this.#signal });
  }
}
