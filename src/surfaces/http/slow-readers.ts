/** Cuts connections whose client reads nothing of a waiting answer: unread bytes must not stay in memory. */
import type { ServerResponse } from 'node:http';
import { limits } from '../../model/limits.ts';
import { breakOff } from '../streams.ts';

/**
 * Answers whose call is in progress. What waits of them is bounded, and a reader who pauses, as a pager does, keeps the
 * command that it watches, until no command runs any more.
 */
export const patient = new WeakSet<ServerResponse>();

interface Watched {
  /** Bytes that the kernel had taken at the last progress, and its time. */
  taken: number;
  progressAt: number;
  /** Begin of the time in which it has to read on. */
  since: number;
}

export class SlowReaders {
  readonly #open = new Map<ServerResponse, Watched>();
  #timer: NodeJS.Timeout | null = null;

  watch(response: ServerResponse): void {
    const now = performance.now();
    this.#open.set(response, { taken: -1, progressAt: now, since: now });
    response.once('close', () => this.#open.delete(response));
    this.#timer ??= setInterval(() => this.#look(), limits.stalledReaderCheckMs).unref();
  }

  close(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  #look(): void {
    const now = performance.now();
    for (const [response, watched] of this.#open) {
      const { socket } = response;
      // A tunnel's bytes wait at the other end.
      if (!socket || response.statusCode === 101) continue;
      const waiting = socket.writableLength;
      const taken = socket.bytesWritten - waiting;
      if (waiting === 0 || taken > watched.taken) {
        watched.taken = taken;
        watched.progressAt = now;
        watched.since = now;
      } else if (patient.has(response) && now - watched.progressAt < limits.live.stalledMs) {
        watched.since = now;
      } else if (now - watched.since >= limits.stalledReaderMs) {
        this.#open.delete(response);
        breakOff(socket);
      }
    }
  }
}
