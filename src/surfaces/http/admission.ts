/**
 * How much is taken on at once, and how long a client may take to send it: requests in progress, JSON bodies
 * that are arriving, and the time for a body.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';

export class Admission {
  #requests = 0;
  #arrivingBytes = 0;

  /** Fails with `resource_exhausted`. What is admitted is released when the response has ended, or by `leave`. */
  admit(request: FastifyRequest, reply: FastifyReply): void {
    if (this.#requests >= limits.concurrentRequests) {
      throw exhausted(`${limits.concurrentRequests} requests are already in progress.`);
    }
    const bytes = request.routeOptions.config.byteStream ? 0 : announcedBytes(request);
    if (this.#arrivingBytes + bytes > limits.arrivingBodyBytes) {
      throw exhausted(`${limits.arrivingBodyBytes} bytes of request bodies are already arriving.`);
    }
    this.#requests++;
    request.leave = () => {
      request.leave = null;
      this.#requests--;
    };
    reply.raw.once('close', () => request.leave?.());
    if (bytes > 0) this.#expectBody(request, bytes);
  }

  #expectBody(request: FastifyRequest, bytes: number): void {
    this.#arrivingBytes += bytes;
    const { socket } = request.raw;
    const deadline = setTimeout(() => request.raw.destroy(), limits.jsonBodyMs);
    let waiting = true;
    const arrived = () => {
      if (!waiting) return;
      waiting = false;
      socket.off('close', arrived);
      clearTimeout(deadline);
      this.#arrivingBytes -= bytes;
    };
    request.raw.once('end', arrived);
    request.raw.once('close', arrived);
    // A request that was answered before all of it was there is not told that its connection closed.
    socket.once('close', arrived);
  }
}

/** Lets a client that was answered before it had sent everything see the answer, for a short while. */
export function linger(request: FastifyRequest): void {
  if (request.raw.complete || request.raw.destroyed) return;
  const { socket } = request.raw;
  const over = () => {
    clearTimeout(timer);
    socket.off('close', over);
  };
  const timer = setTimeout(() => socket.destroy(), limits.lingerMs);
  request.raw.once('close', over);
  socket.once('close', over);
  request.raw.resume();
}

function announcedBytes({ headers }: FastifyRequest): number {
  const length = headers['content-length'];
  if (length === undefined) return headers['transfer-encoding'] === undefined ? 0 : limits.jsonBodyBytes;
  return Math.min(Number(length) || 0, limits.jsonBodyBytes);
}

function exhausted(detail: string): SandhavenError {
  return new SandhavenError('resource_exhausted', detail, {
    hint: 'Wait a moment, then try again.',
    retryable: true,
  });
}
