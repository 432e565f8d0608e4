/** Reads a stream of events over as many connections as it takes: a new one whenever the last one breaks off. */
import { failureOf } from './call.ts';
import type { Connection } from './connection.ts';
import { SandhavenError, unreachable } from './errors.ts';
import { readEvents, type ServerEvent } from './events.ts';

export interface Reading<Value> {
  /** Route of the next connection. */
  path(): string;
  /** Returns null for an event to skip. An error that it throws ends the connection, as one of the service does. */
  read(event: ServerEvent): Value | null;
  /** Most failures in a row before the first value; without it any number. */
  maxRetries?: number;
  signal?: AbortSignal | undefined;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
/** The service sends something every 15 s. */
const SILENCE_MS = 45_000;

/** Throws `SandhavenError` when another attempt makes no sense, such as with a key that is not valid. */
export async function* readReconnecting<Value>(
  connection: Connection,
  reading: Reading<Value>,
): AsyncGenerator<Value, never, undefined> {
  const { maxRetries = Infinity, signal } = reading;
  let retries = maxRetries;
  for (let failures = 0; ; failures++) {
    const attempts = connection.begin(signal ? { signal } : {});
    try {
      for await (const value of oneStream(connection, attempts, reading)) {
        failures = 0;
        retries = Infinity;
        yield value;
      }
      if (failures >= retries) throw unreachable(connection.url, new Error('the stream has no events'));
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (!isTransient(error) || failures >= retries) throw error;
    } finally {
      attempts.close();
    }
    await pause(connection, failures, signal);
  }
}

async function* oneStream<Value>(
  connection: Connection,
  attempts: ReturnType<Connection['begin']>,
  { path, read }: Reading<Value>,
): AsyncGenerator<Value> {
  const init = { headers: { accept: 'text/event-stream' } };
  const response = await connection.request(path(), init, attempts);
  if (!response.ok || !response.body) throw await failureOf(response);
  attempts.stopClock();
  try {
    for await (const event of readEvents(unlessSilent(response.body))) {
      const value = read(event);
      if (value !== null) yield value;
    }
  } catch (error) {
    throw connection.explain(error, attempts);
  }
}

/** Ends a stream whose other side vanished. A machine that was asleep would not notice otherwise. */
function unlessSilent(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const silent = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error('the stream is silent')), SILENCE_MS);
      });
      try {
        const { done, value } = await Promise.race([reader.read(), silent]);
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        reader.cancel().catch(() => {});
        controller.error(error);
      } finally {
        clearTimeout(timer);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

function isTransient(error: unknown): boolean {
  return error instanceof SandhavenError && (error.retryable || error.code === 'timeout');
}

async function pause(connection: Connection, failures: number, signal?: AbortSignal): Promise<void> {
  const attempts = connection.begin(signal ? { signal } : {});
  attempts.stopClock();
  try {
    const ms = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
    await attempts.pause(ms * (0.5 + Math.random() / 2));
  } finally {
    attempts.close();
  }
}
