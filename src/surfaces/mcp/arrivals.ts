/**
 * Admits messages: bounded like every body, small besides the parameters of a tool, and few waiting for notifications.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Shares } from '../../fairness/shares.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { JsonBodies } from '../json/bodies.ts';
import { Envelope } from './envelope.ts';

export class McpArrivals {
  readonly #bodies: JsonBodies;
  readonly #subscriptions = new Shares({
    ...limits.shares.subscriptions,
    what: 'streams already wait for notifications',
  });

  constructor(bodies: JsonBodies) {
    this.#bodies = bodies;
  }

  /**
   * @param response Releases the request's share once this has ended.
   * @returns undefined for no body or invalid JSON. Rejects with `too_large`, `timeout`, `resource_exhausted`.
   */
  async bodyOf(request: IncomingMessage, response: ServerResponse, owner: string): Promise<unknown> {
    if (request.method !== 'POST') return undefined;
    const body = await this.#bodies.read(request, response, owner, new Envelope()).catch((error: unknown) => {
      if (error instanceof SandhavenError && error.code === 'invalid_argument') return undefined;
      throw error;
    });
    const messages: unknown[] = Array.isArray(body) ? body : [body];
    const subscribes = messages.some((message) => field(message, 'method') === 'subscriptions/listen');
    if (subscribes) response.once('close', this.#subscriptions.take(owner));
    return body;
  }
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
