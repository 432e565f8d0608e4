/** Calls a tool: sends the request, retries where that is safe, and reads JSON or a stream of events. */
import type { Attempts, Connection, RequestOptions } from './connection.ts';
import { foreignAnswer, fromProblem, SandhavenError } from './errors.ts';
import { readEvents } from './events.ts';
import { listens, Output, type OutputListeners } from './output.ts';

export interface Progress {
  message: string;
  done?: number;
  total?: number;
}

export interface DisplayedResult {
  /** `result`: the value of the last expression. */
  type: 'result' | 'display';
  /** The same in several forms, by media type; pictures in base64. */
  data: Record<string, unknown>;
  /** What a matplotlib figure shows, as a chart of `runCode` without its picture. */
  chart?: Record<string, unknown>;
}

export interface CallOptions extends RequestOptions, OutputListeners {
  /** Receives the steps of calls that may take long. */
  onProgress?: (progress: Progress) => void;
  /** Receives each result of code in a context as it is shown; the call's own result has all of them too. */
  onDisplay?: (shown: DisplayedResult) => void;
  /** Most retries of this call, where they are safe. */
  maxRetries?: number;
  /** Makes a retry safe, for tools that honour it; they get one automatically for the retries of one call. */
  idempotencyKey?: string;
}

/** Facts about a tool that the client needs. */
export interface ToolFacts {
  name: string;
  /** Calling it twice has the same effect as calling it once. */
  repeatable: boolean;
  /** May take over a minute: read as a stream of events. */
  long: boolean;
  /** Honours Idempotency-Key. */
  idempotencyKey: boolean;
}

export type Call = <Result>(tool: ToolFacts, parameters: object, options?: CallOptions) => Promise<Result>;

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 8_000;

export function createCall(connection: Connection): Call {
  return async <Result>(tool: ToolFacts, parameters: object, options: CallOptions = {}) => {
    const key = tool.idempotencyKey ? (options.idempotencyKey ?? randomKey()) : undefined;
    const retries = options.maxRetries ?? connection.maxRetries;
    const repeatable = tool.repeatable || key !== undefined;
    const attempts = connection.begin(options);
    try {
      for (let sent = 0; ; sent++) {
        try {
          return (await send(connection, tool, { parameters, key, attempts, ...options })) as Result;
        } catch (error) {
          if (sent >= retries || !(error instanceof SandhavenError) || !error.retryable) throw error;
          if (!repeatable && !refusedAtTheDoor(error)) throw error;
          await attempts.pause(pauseMs(sent, error.retryAfterSeconds));
        }
      }
    } finally {
      attempts.close();
    }
  };
}

type Listeners = Pick<CallOptions, 'onProgress' | 'onDisplay' | keyof OutputListeners>;

interface Sending extends Listeners {
  parameters: object;
  key: string | undefined;
  attempts: Attempts;
}

async function send(connection: Connection, tool: ToolFacts, sending: Sending): Promise<unknown> {
  const { parameters, key, attempts } = sending;
  const headers = {
    'content-type': 'application/json',
    accept: tool.long ? 'text/event-stream' : 'application/json',
    ...(key === undefined ? {} : { 'idempotency-key': key }),
  };
  const init = { method: 'POST', headers, body: JSON.stringify(parameters) };
  const asked = tool.long && listens(sending) ? '?output=bytes' : '';
  const response = await connection.request(`/v1/tools/${tool.name}${asked}`, init, attempts);
  return resultOf(response, sending, (error) => connection.explain(error, attempts));
}

/** The error that a caller gets for one of the transport. */
type Explain = (error: unknown) => unknown;

async function resultOf(response: Response, listeners: Listeners, explain: Explain): Promise<unknown> {
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('text/event-stream') && response.body) {
    return streamed(response.body, listeners, explain);
  }
  try {
    if (response.ok && type.startsWith('application/json')) return await response.json();
    throw await failureOf(response);
  } catch (error) {
    throw explain(error);
  }
}

/** Reads the error of an unsuccessful response. */
export async function failureOf(response: Response): Promise<SandhavenError> {
  const body: unknown = await response.json().catch(() => null);
  return fromProblem(body) ?? foreignAnswer(response.status, response.headers.get('retry-after'));
}

/** Throws what a listener throws. */
async function streamed(
  body: ReadableStream<Uint8Array>,
  listeners: Listeners,
  explain: Explain,
): Promise<unknown> {
  const output = new Output(listeners);
  for await (const { event, value } of valuesOf(body, explain)) {
    if (event === 'result' || event === 'error') await output.end();
    if (event === 'result') return value;
    if (event === 'error') throw fromProblem(value) ?? foreignAnswer(200);
    if (event === 'progress') listeners.onProgress?.(value as Progress);
    if (event === 'display') listeners.onDisplay?.(value as DisplayedResult);
    if (event === 'output') await output.take(value as Parameters<Output['take']>[0]);
  }
  throw explain(new Error('the stream ended without a result'));
}

async function* valuesOf(body: ReadableStream<Uint8Array>, explain: Explain) {
  try {
    for await (const { event, data } of readEvents(body)) yield { event, value: JSON.parse(data) as unknown };
  } catch (error) {
    throw explain(error);
  }
}

/** The key called too often: nothing was done, so even a call that must not run twice may be sent again. */
function refusedAtTheDoor({ code, retryAfterSeconds }: SandhavenError): boolean {
  return code === 'resource_exhausted' && retryAfterSeconds !== undefined;
}

/** Doubles each time, never below the requested pause, with jitter, so that many clients do not return at once. */
function pauseMs(sent: number, retryAfterSeconds = 0): number {
  const own = Math.min(FIRST_PAUSE_MS * 2 ** sent, LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2);
  return Math.max(own, retryAfterSeconds * 1_000 + own / 4);
}

/** crypto.randomUUID is missing on pages loaded over plain HTTP. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
