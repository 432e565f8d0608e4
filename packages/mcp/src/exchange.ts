/** Sends one message to the service, and takes the messages of its answer. */
import type { Bounds, Room } from './bounds.ts';
import { type Budget, eventsOf } from './events.ts';
import { Failure, unreachable } from './failure.ts';
import { type Id, messageOf } from './messages.ts';
import { parse } from './parse.ts';
import { refusalOf } from './refusal.ts';
import { Watch } from './watch.ts';

export interface Sending {
  url: URL;
  headers: Record<string, string>;
  /** The message as its client wrote it. */
  body: string;
  /** Of the request; null where no answer is due. */
  id: Id | null;
  /** Of the service, so that no text quotes it. */
  key: string;
  signal: AbortSignal;
}

export interface Taking {
  bounds: Bounds;
  room: Room;
  /** Receives each message, in one line; the next is read once it is written. */
  pass(line: string): Promise<void>;
  /** Receives the headers of an answer that is no refusal. */
  began(headers: Headers): void;
  /** Receives the answer before it is passed. */
  answered(value: unknown): void;
}

/** Resolves once the answer was passed. Rejects with a Failure; with the reason of the signal after an abort. */
export async function exchange(sending: Sending, taking: Taking): Promise<void> {
  const { url, body, id, signal } = sending;
  const watch = new Watch(signal);
  const { room, bounds } = taking;
  const budget = budgetOf(room, bounds.answerBytes);
  try {
    watch.start(bounds.beginMs, 'it did not begin to answer in time');
    const headers = { ...sending.headers, 'content-type': 'application/json' };
    const options = { method: 'POST', headers, body, redirect: 'manual', signal: watch.signal } as const;
    const response = await fetch(url, options);
    const type = response.headers.get('content-type') ?? '';
    const chunks = watch.reading(response, bounds.silenceMs);
    if (/^text\/event-stream\b/i.test(type) && response.ok) {
      taking.began(response.headers);
      if (id !== null) await passEvents(chunks, sending, taking, budget);
    } else if (!(response.ok && id === null)) {
      await passDocument(response, chunks, sending, taking, budget);
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof Failure) throw error;
    throw unreachable(url.origin, watch.reason ?? error);
  } finally {
    watch.end();
    budget.clear();
  }
}

async function passEvents(
  chunks: AsyncIterable<Uint8Array>,
  { id, url }: Sending,
  taking: Taking,
  budget: Budget,
): Promise<void> {
  for await (const line of eventsOf(chunks, budget)) {
    const value = parse(line);
    const message = messageOf(value);
    if (!message) throw noMessage(url);
    const isAnswer = message.method === null;
    if (isAnswer && message.id !== id) throw noMessage(url);
    if (isAnswer) taking.answered(value);
    await taking.pass(line);
    if (isAnswer) return;
  }
  throw unreachable(
    url.origin,
    new Error('its answer ended too early, so the call may have been carried out'),
  );
}

/** Takes one message as a document, or explains what is none. */
async function passDocument(
  response: Response,
  chunks: AsyncIterable<Uint8Array>,
  { id, url, key }: Sending,
  taking: Taking,
  budget: Budget,
): Promise<void> {
  const { bounds } = taking;
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    // What is longer explains no refusal better.
    if (!response.ok && bytes > bounds.refusalBytes) break;
    budget.take(chunk.length);
    pieces.push(chunk);
  }
  const text = Buffer.concat(pieces).toString('utf8');
  const value = parse(text);
  const message = messageOf(value);
  if (message === null || message.method !== null || id === null) {
    if (response.ok) throw noMessage(url);
    throw refusalOf(response, value, text, { url, key, chars: bounds.textChars });
  }
  if (message.id !== id && message.id !== null) throw noMessage(url);
  if (response.ok) taking.began(response.headers);
  taking.answered(value);
  // An error may come without the id of a request that the service has not understood.
  const own =
    message.id === null ? JSON.stringify({ ...(value as object), id }) : text.replace(/[\r\n]+/g, ' ');
  await taking.pass(own);
}

function noMessage(url: URL): Failure {
  return new Failure(
    'unavailable',
    `The service at ${url.origin} sent what is no message of MCP.`,
    'Check that the address is that of a Sandhaven service, and what is before it.',
  );
}

function budgetOf(room: Room, most: number): Budget {
  let taken = 0;
  return {
    take(bytes) {
      if (taken + bytes > most || !room.take(bytes)) {
        throw new Failure(
          'too_large',
          'The answer is larger than what this bridge takes.',
          'Ask for less at once, and for fewer things side by side.',
        );
      }
      taken += bytes;
    },
    clear() {
      room.giveBack(taken);
      taken = 0;
    },
  };
}
