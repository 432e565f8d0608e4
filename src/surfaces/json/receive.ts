/** Receives the bytes of a request's body, with a minimum rate and a maximum size. */
import type { IncomingMessage } from 'node:http';
import { SmallPieces } from '../../fairness/body-pieces.ts';
import { invalidArgument, SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';

const CHECK_MS = 1_000;

export interface Reception {
  onChunk(chunk: Buffer): void;
  /** Called once, above `smallBodyBytes`; the sender waits until it resolves, and its time does not run. */
  onLarge(): Promise<void>;
}

/**
 * Rejects with `too_large`, with `timeout` for a sender slower than `limits.bodyBytesPerSecond`, and with every
 * error of the reception. The rest of the request is then left unread.
 */
export function receive(request: IncomingMessage, { onChunk, onLarge }: Reception): Promise<Buffer[]> {
  return new Promise((resolve, reject) => {
    let begun = performance.now();
    let waitsSince: number | null = null;
    const chunks: Buffer[] = [];
    const small = new SmallPieces();
    let bytes = 0;
    const over = () => {
      clearInterval(timer);
      waitsSince = null;
      request.off('data', data).off('end', end).off('close', gone).off('error', gone);
    };
    const fail = (error: unknown) => {
      over();
      request.pause();
      reject(error);
    };
    const goOn = () => {
      if (waitsSince === null) return;
      begun += performance.now() - waitsSince;
      waitsSince = null;
      request.resume();
    };
    const data = (chunk: Buffer) => {
      const wasSmall = bytes <= limits.json.smallBodyBytes;
      bytes += chunk.length;
      try {
        if (bytes > limits.jsonBodyBytes) throw bodyTooLarge();
        onChunk(chunk);
        chunks.push(...small.add(chunk));
        if (!wasSmall || bytes <= limits.json.smallBodyBytes) return;
        waitsSince = performance.now();
        request.pause();
        onLarge().then(goOn, fail);
      } catch (error) {
        fail(error);
      }
    };
    const end = () => {
      over();
      resolve([...chunks, ...small.take()]);
    };
    const gone = () => fail(invalidArgument('body', 'The connection ended before the request body did.'));
    const timer = setInterval(() => {
      if (waitsSince !== null) return;
      const ms = performance.now() - begun;
      const due = ((ms - limits.bodyGraceMs) / 1_000) * limits.bodyBytesPerSecond;
      if (bytes < due || ms > limits.jsonBodyMs) fail(tooSlow());
    }, CHECK_MS);
    if (request.destroyed && !request.readableEnded) gone();
    else request.on('data', data).once('end', end).once('close', gone).once('error', gone);
  });
}

export function bodyTooLarge(): SandhavenError {
  return new SandhavenError('too_large', `The request body is larger than ${limits.jsonBodyBytes} bytes.`, {
    hint: 'Send large files with PUT /v1/sandboxes/{sandbox}/files?path=.',
  });
}

function tooSlow(): SandhavenError {
  return new SandhavenError('timeout', 'The request body arrives too slowly.', {
    hint: `Send it at ${limits.bodyBytesPerSecond} bytes a second or faster, all of it within ${limits.jsonBodyMs / 1_000} s.`,
  });
}
