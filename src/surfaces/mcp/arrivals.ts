/**
 * Admits messages: bounded like every body, small besides the parameters of a tool, and few waiting for notifications.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Shares } from '../../fairness/shares.ts';
import { SandhavenError } from '../../model/errors.ts';
import type { JsonScan } from '../../model/json-bounds.ts';
import { limits } from '../../model/limits.ts';
import type { JsonBodies, OwnBounds } from '../json/bodies.ts';

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

/** Path of the arguments. Names written with escapes are not recognized, and their values count. */
const PATH = ['params', 'arguments'];
const LONGEST_NAME = Math.max(...PATH.map(({ length }) => length));

const COLON = 0x3a;
const COMMA = 0x2c;
const LIST = 0x5b;

/**
 * Counts the parts of a message besides the arguments of its tool as they arrive: the SDK walks all of them more than
 * once, and none needs to be large. Messages of a batch count together.
 */
export class Envelope implements OwnBounds {
  /** Depth of the parameters' contents in a batch. */
  readonly depth = 3;
  /** Depth of the message: 1, or 2 in a batch. 0 before it has begun. */
  #message = 0;
  /** The last string, as far as it can be a name of the path. */
  #name = '';
  /** Number of the path's names that lead to the current value. */
  #matched = 0;
  /** Start of the current arguments. */
  #begun = { bytes: 0, count: 0 };
  /** Total of all arguments read. */
  #own = { bytes: 0, count: 0 };

  begin(): void {
    this.#name = '';
  }

  piece(bytes: Uint8Array): void {
    if (this.#name.length > LONGEST_NAME) return;
    this.#name += Buffer.from(bytes.subarray(0, LONGEST_NAME + 1)).toString('latin1');
  }

  mark(byte: number, depth: number, at: number, count: number): void {
    if (this.#message === 0) this.#message = byte === LIST ? 2 : 1;
    if (byte === COLON) {
      if (depth !== this.#message + this.#matched || this.#name !== PATH[this.#matched]) return;
      this.#matched++;
      if (this.#matched === PATH.length) this.#begun = { bytes: at, count };
      return;
    }
    // The value of the path's last name ends with a comma beside it, or with its container.
    const beside = this.#message + this.#matched - 1;
    if (this.#matched === 0 || !(depth < beside || (byte === COMMA && depth === beside))) return;
    if (this.#matched === PATH.length) {
      this.#own.bytes += at - this.#begun.bytes;
      this.#own.count += count - this.#begun.count;
    }
    this.#matched--;
  }

  /** Throws `too_large` once the scanned message has too much besides arguments. */
  assertSmall({ bytes, count }: JsonScan): void {
    const { envelopeBytes, envelopeNodes } = limits.json;
    const reading = this.#matched === PATH.length;
    const ownBytes = this.#own.bytes + (reading ? bytes - this.#begun.bytes : 0);
    const ownCount = this.#own.count + (reading ? count - this.#begun.count : 0);
    if (count - ownCount > envelopeNodes) throw tooLarge(`${envelopeNodes} keys and values`);
    if (bytes - ownBytes > envelopeBytes) throw tooLarge(`${envelopeBytes} bytes`);
  }
}

function tooLarge(most: string): SandhavenError {
  return new SandhavenError(
    'too_large',
    `The message has more than ${most} besides the arguments of its tool.`,
    { hint: 'Put what the tool works on into `arguments`, and leave out of `_meta` what no server needs.' },
  );
}
