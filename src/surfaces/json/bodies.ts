/**
 * Reads JSON bodies for every surface: bounded in bytes, keys, values and depth before parsing, in each user's total
 * at a time, and in the event-loop time that parsing takes from others.
 *
 * Invariant: a body holds nothing of its user's total until more than `smallBodyBytes` of it have come, then the most
 * that it may have, and from its end until the answer its own length.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { AnswerRoom } from '../../fairness/answer-room.ts';
import { FairQueue, LongWork } from '../../fairness/fair-queue.ts';
import type { Release } from '../../fairness/shares.ts';
import { SandhavenError } from '../../model/errors.ts';
import { type JsonOutline, JsonScan, type JsonVerdict } from '../../model/json-bounds.ts';
import { limits } from '../../model/limits.ts';
import { bodyTooLarge, receive } from './receive.ts';

/** Bounds of one surface, in addition to those of all bodies. */
export interface OwnBounds extends JsonOutline {
  /** Checks the bytes scanned so far; throws the error for the body. */
  assertSmall(scan: JsonScan): void;
}

export class JsonBodies {
  readonly #room = new FairQueue({
    ...limits.shares.bodies,
    what: 'bytes of request bodies are being worked on',
  });
  readonly #parsing = new LongWork('large request bodies are being read');

  /**
   * @param response Releases the body's share once this has ended.
   * @returns undefined for an empty body. Rejects with `invalid_argument`, `too_large`, `timeout`,
   * `resource_exhausted`; errors name the faulty place in the body, and repeat nothing of it.
   */
  async read(
    request: IncomingMessage,
    response: ServerResponse,
    owner: string,
    own: OwnBounds | null = null,
  ): Promise<unknown> {
    const { 'content-encoding': encoding } = request.headers;
    if (encoding !== undefined && encoding !== 'identity') {
      throw invalidBody('A compressed request body is not accepted.', 'Send it without Content-Encoding.');
    }
    const announced = announcedBytes(request);
    if (announced > limits.jsonBodyBytes) throw bodyTooLarge();
    let release: Release = () => {};
    const scan = new JsonScan(limits.json.body, own);
    const chunks = await receive(request, {
      onChunk(chunk) {
        assertFits(scan.push(chunk));
        own?.assertSmall(scan);
      },
      // Once for all of it: bodies that took more as they grow would wait for each other, each with a part of the room.
      onLarge: async () => {
        release = await this.#makeRoom(response, owner, announced);
      },
    });
    const body = Buffer.concat(chunks);
    release(body.length);
    if (body.length === 0) return undefined;
    if (!isUtf8(body)) throw invalidBody('The request body is not valid UTF-8.');
    return body.length > limits.json.largeBodyBytes
      ? this.#parsing.run(owner, () => parseInParts(body))
      : parse(body.toString('utf8'));
  }

  async #makeRoom(response: ServerResponse, owner: string, bytes: number): Promise<Release> {
    const left = new AbortController();
    const abort = () => left.abort(new Error('The client left.'));
    response.once('close', abort);
    const release = await this.#room.take(owner, bytes, left.signal);
    response.off('close', abort);
    if (response.closed) release();
    else response.once('close', () => release());
    return release;
  }
}

/** Returns the most that may come of the body. */
function announcedBytes({ headers }: IncomingMessage): number {
  const length = headers['content-length'];
  if (length !== undefined) return Number(length) || 0;
  return headers['transfer-encoding'] === undefined ? 0 : limits.jsonBodyBytes;
}

async function parseInParts(body: Buffer): Promise<unknown> {
  const text = body.toString('utf8');
  await setImmediate();
  return parse(text);
}

function assertFits(verdict: JsonVerdict): void {
  if (verdict === 'fits') return;
  const { nodesAndKeys, depth } = limits.json.body;
  const what =
    verdict === 'too_deep'
      ? `objects and lists more than ${depth} deep`
      : `more than ${nodesAndKeys} keys and values`;
  throw new SandhavenError('too_large', `The request body has ${what}.`, {
    hint: 'Send less at once; long text is one value, however long it is.',
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = /at position \d+/.exec(error instanceof Error ? error.message : '');
    throw invalidBody(`The request body is not valid JSON${position ? ` (${position[0]})` : ''}.`);
  }
}

function invalidBody(detail: string, hint = 'Send the parameters as one JSON object.'): SandhavenError {
  return new SandhavenError('invalid_argument', detail, { parameter: 'body', hint });
}

/** Memory bounds shared by the surfaces that serve members: one instance for all of them. */
export class SharedRoom {
  readonly bodies = new JsonBodies();
  readonly answers = new AnswerRoom();
}
