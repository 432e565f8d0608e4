/** Calls tools and actions over HTTP, as any client does; long ones as an event stream, to show progress. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Action } from '../../administration/action.ts';
import type { CallContext, Tool } from '../../catalog/base/tool.ts';
import type { Display, FileChange, LiveOutput, LivePiece } from '../../control/ports/index.ts';
import { type Problem, SandhavenError, toProblem } from '../../model/errors.ts';
import { newRequestId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { type Connection, headersOf, unreachable } from './connection.ts';

const EXPLANATION_BYTES = 1_000;

export type CallOutcome =
  | { result: Record<string, unknown>; problem?: never }
  | { problem: Problem; result?: never };

export interface CallOptions {
  signal?: AbortSignal;
  onProgress?: CallContext['progress'];
  /** Receives output of a program while it runs; all of it, as bytes, where that is `whole`. */
  onOutput?: LiveOutput;
  /** Receives what code in a context shows. */
  onDisplay?: (shown: Display) => void;
  /** Receives the position of the first byte of a process's output. */
  onBegin?: (from: number) => void;
  /** Receives changes of files; the next ones come once it has resolved. */
  onChanges?: (changes: FileChange[]) => Promise<void> | undefined;
}

export type Client = (
  tool: Pick<Tool, 'name' | 'long'>,
  parameters: Record<string, unknown>,
  options?: CallOptions,
) => Promise<CallOutcome>;

export type AdminClient = (
  action: Pick<Action, 'name'>,
  parameters: Record<string, unknown>,
  options?: CallOptions,
) => Promise<CallOutcome>;

export function createClient(connection: Connection): Client {
  return ({ name, long = false }, parameters, options = {}) => {
    const whole = options.onOutput?.whole ?? false;
    const path = `/v1/tools/${name}${whole ? '?output=bytes' : ''}`;
    return post(connection, { path, parameters, long: long || whole }, options);
  };
}

export function createAdminClient(connection: Connection): AdminClient {
  return ({ name }, parameters, options = {}) =>
    post(connection, { path: `/v1/admin/${name}`, parameters, long: false }, options);
}

/** Reads a stream of events from its route, until what it follows ends or the connection does. */
export function readStream(connection: Connection, path: string, options: CallOptions): Promise<CallOutcome> {
  return postOnce(connection, { path, parameters: null, long: true }, options);
}

/** Calls a route that needs no key yet. Rejects with the problem that the service answers, once it gives no time to retry. */
export async function callOpenRoute(
  url: string,
  path: string,
  parameters: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const posting = { path, parameters, long: false };
  const { result, problem } = await post({ url, apiKey: null }, posting, { signal });
  if (!problem) return result;
  const { code, detail, hint } = problem;
  throw new SandhavenError(code, detail, hint === undefined ? {} : { hint });
}

/** A route of a service; one that is open needs no key. */
type Destination = Omit<Connection, 'apiKey'> & { apiKey: string | null };

interface Posting {
  path: string;
  /** null for a GET. */
  parameters: Record<string, unknown> | null;
  long: boolean;
}

/** Retries calls refused before any work, when the service gives a time to retry. */
async function post(connection: Destination, posting: Posting, options: CallOptions): Promise<CallOutcome> {
  for (let sent = 1; ; sent++) {
    const outcome = await postOnce(connection, posting, options);
    const waitSeconds = outcome.problem?.retry_after_seconds;
    if (waitSeconds === undefined || sent === limits.clientTries) return outcome;
    await sleep(waitSeconds * 1_000, undefined, options.signal ? { signal: options.signal } : {});
  }
}

/** Rejects only on abort: an unreachable service is a problem like any other. */
async function postOnce(
  destination: Destination,
  { path, parameters, long }: Posting,
  options: CallOptions,
): Promise<CallOutcome> {
  const { signal } = options;
  try {
    const response = await fetch(destination.url + path, {
      ...(parameters === null ? {} : { method: 'POST', body: JSON.stringify(parameters) }),
      redirect: 'error',
      headers: {
        ...headersOf(destination),
        'content-type': 'application/json',
        accept: long ? 'text/event-stream' : 'application/json',
      },
      ...(signal ? { signal } : {}),
    });
    return await outcomeOf(response, options);
  } catch (error) {
    if (signal?.aborted) throw error;
    return { problem: toProblem(unreachable(destination.url, error), newRequestId()) };
  }
}

async function outcomeOf(response: Response, options: CallOptions): Promise<CallOutcome> {
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('text/event-stream') && response.body) {
    return streamedOutcome(response.body, options);
  }
  if (!/^application\/(problem\+)?json/.test(type)) {
    const said = type.startsWith('text/plain') ? await firstLine(response) : '';
    throw new Error(said || `status ${response.status} with content of type ${type || 'none'}`);
  }
  const body = await response.json();
  return response.ok ? { result: body as Record<string, unknown> } : { problem: body as Problem };
}

async function streamedOutcome(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  { onProgress, onOutput, onDisplay, onBegin, onChanges }: CallOptions,
): Promise<CallOutcome> {
  for await (const { event, data } of readEvents(body)) {
    const value: unknown = JSON.parse(data);
    if (event === 'result') return { result: value as Record<string, unknown> };
    if (event === 'error') return { problem: value as Problem };
    if (event === 'progress') onProgress?.(value as Parameters<CallContext['progress']>[0]);
    if (event === 'display') onDisplay?.(value as Display);
    if (event === 'begin') onBegin?.((value as { from: number }).from);
    if (event === 'changes') await onChanges?.((value as { changes: FileChange[] }).changes);
    if (event === 'output') await onOutput?.show(pieceOf(value as OutputEvent));
  }
  throw new Error('the stream ended without a result');
}

interface OutputEvent extends Pick<LivePiece, 'stream'> {
  base64?: string;
  /** In place of `base64`: of a client that did not ask for bytes, or of an earlier service. */
  text?: string;
  left_out_bytes?: number;
}

function pieceOf({ stream, base64, text = '', left_out_bytes: leftOutBytes = 0 }: OutputEvent): LivePiece {
  const bytes = base64 === undefined ? Buffer.from(text) : Buffer.from(base64, 'base64');
  return { stream, bytes, leftOutBytes };
}

/** Reads a self-explanatory text, such as the one of a port that speaks TLS. */
async function firstLine(response: Response): Promise<string> {
  if (Number(response.headers.get('content-length') ?? Infinity) > EXPLANATION_BYTES) return '';
  return (await response.text()).split('\n', 1)[0] ?? '';
}

/** Parses server-sent events of a response body: the part of the format that the service sends. */
export interface ServerEvent {
  event: string;
  data: string;
}

/** Skips comments, which keep the connection alive. */
export async function* readEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<ServerEvent> {
  let unfinished = '';
  let fields = new Map<string, string>();
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    unfinished += text;
    // A large result is one line in many pieces, split once at its end.
    if (!text.includes('\n')) continue;
    const lines = unfinished.split('\n');
    unfinished = lines.pop() ?? '';
    for (const line of lines) {
      const data = fields.get('data');
      if (line !== '') fields.set(...fieldOf(line));
      else if (data !== undefined) yield { event: fields.get('event') ?? 'message', data };
      if (line === '') fields = new Map();
    }
  }
}

/** A comment is a field without a name. */
function fieldOf(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).trimStart()];
}
