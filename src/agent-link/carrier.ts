/** Operations of a carrier: an agent that gives out the content of a disk, or makes it. protocol/README.md describes them. */
import { Readable } from 'node:stream';
import { z } from 'zod';
import { limits } from '../model/limits.ts';
import { call } from './call.ts';
import { type AnswerSink, Exchange, type OpenChannel } from './exchange.ts';
import { ProtocolError } from './frames.ts';
import { emptyReply, parseReply, unavailable } from './replies.ts';
import type { AgentRequest } from './request.ts';

const unpackReply = z.object({ entries: z.number().int().nonnegative() });

/** Resolves when the tar archive begins, whose length is not known. Destroying it ends the work in the carrier. */
export function packDisk(
  openChannel: OpenChannel,
  id: string,
  leaveOut: readonly string[],
  signal?: AbortSignal,
): Promise<Readable> {
  return new Promise((resolve, reject) => {
    const disk = new DiskStream(resolve, reject, signal);
    disk.start(openChannel, id, { op: 'pack', leave_out: leaveOut });
  });
}

/** Resolves once the content is on the disk for good. Rejects with the error of a source that fails. */
export async function unpackDisk(
  openChannel: OpenChannel,
  id: string,
  leaveOut: readonly string[],
  archive: AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): Promise<void> {
  const upload = Readable.from(archive, { objectMode: false });
  // Its error reaches the caller by the call.
  upload.on('error', () => {});
  try {
    await call(openChannel, id, {
      request: { op: 'unpack', leave_out: leaveOut },
      upload,
      signal,
      timeoutMs: limits.kubernetes.diskSyncMs,
      reply: unpackReply,
    });
  } finally {
    upload.destroy();
  }
}

class DiskStream extends Readable implements AnswerSink {
  readonly #resolve: (stream: Readable) => void;
  readonly #reject: (error: Error) => void;
  readonly #exchange: Exchange;
  #begun = false;

  constructor(resolve: (stream: Readable) => void, reject: (error: Error) => void, signal?: AbortSignal) {
    super({ highWaterMark: limits.agentDataFrameBytes });
    this.#resolve = resolve;
    this.#reject = reject;
    this.#exchange = new Exchange(this, signal);
    // An error before the caller listens must not end the process; the stream stays in error.
    this.on('error', () => {});
  }

  start(openChannel: OpenChannel, id: string, request: AgentRequest): void {
    this.#expectMore();
    void this.#exchange.open(openChannel, id).then(() => this.#exchange.send(request));
  }

  item(): void {
    throw new ProtocolError('an item in a stream');
  }

  reply(json: unknown): boolean {
    parseReply(emptyReply, json);
    this.#begun = true;
    this.#resolve(this);
    return true;
  }

  data(piece: Buffer): void {
    if (!this.#begun) throw new ProtocolError('data before the reply');
    if (this.push(piece)) {
      this.#expectMore();
    } else {
      this.#exchange.relax();
      this.#exchange.pause();
    }
  }

  done(): void {
    this.push(null);
  }

  failed(error: Error): void {
    if (this.#begun) this.destroy(error);
    else this.#reject(error);
  }

  override _read(): void {
    if (this.#exchange.settled || !this.#begun) return;
    this.#expectMore();
    this.#exchange.resume();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#exchange.fail(error ?? new Error('The stream was closed.'));
    callback(error);
  }

  #expectMore(): void {
    this.#exchange.expect(limits.streamIdleMs, () => unavailable("The disk's carrier sends no more data."));
  }
}
