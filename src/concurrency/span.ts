/**
 * Spans of a trace, each a piece of work with its beginning and end. The open span travels with the asynchronous context,
 * past all code in between, so a piece of work names itself and no parent. Without traces each of these is one look.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

/** All that a span may say. None holds a text of a caller: no argument, path, command, name or query. */
export interface SpanAttributes {
  'http.request.method'?: string;
  /** The pattern of the path. */
  'http.route'?: string;
  'http.response.status_code'?: number;
  /** `ok`, an error code, or `cancelled`. */
  'sandhaven.outcome'?: string;
  'sandhaven.request_id'?: string;
  'sandhaven.toolset'?: string;
  'sandhaven.sandbox_id'?: string;
  /** `warm`: taken from the pool; `cold`: made. */
  'sandhaven.start'?: 'warm' | 'cold';
  /** Bytes that an agent was sent and has sent, without the frames' own. */
  'sandhaven.agent.sent_bytes'?: number;
  'sandhaven.agent.received_bytes'?: number;
  'db.system.name'?: 'postgresql' | 'mongodb';
  /** The first word of the first statement, or the operation of the document database. */
  'db.operation.name'?: string;
  /** The table of the service that the first statement names. */
  'db.collection.name'?: string;
  /** The name that the first statement is prepared under. */
  'sandhaven.statement'?: string;
  'sandhaven.statements'?: number;
}

export interface Span {
  readonly traceId: string;
  /** It has ended, or its trace has as many spans as one may have: nothing more begins beneath it. */
  readonly isClosed: boolean;
  child(name: string, attributes: SpanAttributes): Span;
  set(attributes: SpanAttributes): void;
  /** Ends it at the first call; `ok`, or an error code. */
  end(outcome: string): void;
}

export interface SpanStart {
  name: string;
  attributes: SpanAttributes;
  /** A request of a client, with its headers `traceparent` and `tracestate`; else work of the service's own. */
  request?: { parent: string | undefined; state: string | undefined; begunAt: number };
}

/** Begins traces. */
export interface Tracer {
  /** Returns null for a trace that is not sampled. */
  begin(start: SpanStart): Span | null;
}

type Work<T> = (span: Span | null) => Promise<T>;

interface Scope {
  tracer: Tracer;
  /** null: work of the service's own, outside of all spans. */
  span: Span | null;
}

const scopes = new AsyncLocalStorage<Scope | undefined>();

/** Runs `work`, and all that it begins, beneath a span; null for a trace that is not sampled, which has no spans. */
export function beneath<T>(tracer: Tracer, span: Span | null, work: () => T): T {
  return scopes.run(span === null ? undefined : { tracer, span }, work);
}

/** Runs `work`, and all that it begins, outside of all spans: operations in it are traces of their own. */
export function inBackground<T>(tracer: Tracer | null, work: () => T): T {
  return tracer === null ? work() : scopes.run({ tracer, span: null }, work);
}

/** Runs `work`, and all that it begins, outside of the open span: it serves others than who caused it. */
export function apart<T>(work: () => T): T {
  const scope = scopes.getStore();
  return scope ? inBackground(scope.tracer, work) : work();
}

/**
 * Runs `work` in a span beneath the open one; as it is where none is open.
 * @param work Gets its span, or null.
 */
export function inSpan<T>(name: string, attributes: SpanAttributes, work: Work<T>): Promise<T> {
  const scope = openScope();
  return scope ? during(scope.tracer, scope.span.child(name, attributes), work) : work(null);
}

/** As `inSpan`, and begins a trace where no span is open: for work that the service also does on its own. */
export function inOwnSpan<T>(name: string, attributes: SpanAttributes, work: Work<T>): Promise<T> {
  const scope = scopes.getStore();
  if (!scope || openScope()) return inSpan(name, attributes, work);
  const { tracer } = scope;
  const span = tracer.begin({ name, attributes });
  return span ? during(tracer, span, work) : beneath(tracer, null, () => work(null));
}

/** Begins a span beneath the open one, for a wait whose end is seen elsewhere; null where none is open. */
export function waiting(name: string, attributes: SpanAttributes): Span | null {
  return openScope()?.span.child(name, attributes) ?? null;
}

/** Adds attributes to the open span; does nothing outside of all. */
export function describeSpan(attributes: SpanAttributes): void {
  openScope()?.span.set(attributes);
}

/** Work that outlives its request is no part of it. */
function openScope(): { tracer: Tracer; span: Span } | null {
  const scope = scopes.getStore();
  if (!scope?.span || scope.span.isClosed) return null;
  return { tracer: scope.tracer, span: scope.span };
}

async function during<T>(tracer: Tracer, span: Span, work: Work<T>): Promise<T> {
  try {
    const result = await beneath(tracer, span, () => work(span));
    span.end('ok');
    return result;
  } catch (error) {
    span.end(codeOf(error));
    throw error;
  }
}

/** Returns an error's own code where it is one of the service, since only those hold no text of others. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'internal';
  if (error.name === 'AbortError') return 'cancelled';
  const { code } = error as { code?: unknown };
  return error.name === 'SandhavenError' && typeof code === 'string' ? code : 'internal';
}
