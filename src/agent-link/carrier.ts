/** Operations of a carrier: an agent that gives out the content of a disk, or makes it. protocol/README.md describes them. */
import { Readable } from 'node:stream';
import { z } from 'zod';
import { limits } from '../model/limits.ts';
import { openAnswerStream } from './answer-stream.ts';
import { call } from './call.ts';
import type { OpenChannel } from './exchange.ts';
import { emptyReply } from './replies.ts';

const unpackReply = z.object({ entries: z.number().int().nonnegative() });

/** Resolves when the tar archive begins, whose length is not known. */
export async function packDisk(
  openChannel: OpenChannel,
  id: string,
  leaveOut: readonly string[],
  signal?: AbortSignal,
): Promise<Readable> {
  const { stream } = await openAnswerStream(openChannel, id, {
    request: { op: 'pack', leave_out: leaveOut },
    reply: emptyReply,
    bytesOf: () => null,
    silence: "The disk's carrier sends no more data.",
    signal,
  });
  return stream;
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
