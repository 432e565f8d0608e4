/** Spans and traces of the core, as OpenTelemetry's. */
import {
  type Context,
  createTraceState,
  isSpanContextValid,
  type Span as Recorded,
  type Tracer as Recorder,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import type { Span, SpanAttributes, Tracer } from '../concurrency/span.ts';
import { limits } from '../model/limits.ts';

/** Shared by the spans of one trace. */
interface OfTrace {
  /** Number of its spans. */
  spans: number;
  /** Time since the epoch less the clock that does not jump: so spans of a trace keep their order. */
  offsetMs: number;
}

export function tracerOn(recorder: Recorder): Tracer {
  return {
    begin({ name, attributes, request }) {
      const context = request ? callersContext(request.parent, request.state) : ROOT_CONTEXT;
      const of: OfTrace = { spans: 1, offsetMs: Date.now() - performance.now() };
      const options = {
        kind: request ? SpanKind.SERVER : SpanKind.INTERNAL,
        attributes: { ...attributes },
        startTime: of.offsetMs + (request?.begunAt ?? performance.now()),
      };
      const span = recorder.startSpan(name, options, context);
      return span.isRecording() ? spanOn(recorder, span, of) : null;
    },
  };
}

function spanOn(recorder: Recorder, recorded: Recorded, of: OfTrace): Span {
  const beneath = trace.setSpan(ROOT_CONTEXT, recorded);
  const now = () => of.offsetMs + performance.now();
  return {
    traceId: recorded.spanContext().traceId,
    get isClosed() {
      return !recorded.isRecording() || of.spans >= limits.traces.spansOfTrace;
    },
    child(name, attributes) {
      of.spans++;
      const options = { attributes: { ...attributes }, startTime: now() };
      return spanOn(recorder, recorder.startSpan(name, options, beneath), of);
    },
    set: (attributes: SpanAttributes) => void recorded.setAttributes({ ...attributes }),
    end(outcome) {
      if (!recorded.isRecording()) return;
      recorded.setAttributes({ 'sandhaven.outcome': outcome });
      if (outcome !== 'ok') recorded.setStatus({ code: SpanStatusCode.ERROR });
      recorded.end(now());
    },
  };
}

/** Later versions may add fields at the end. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** A longer list is no one's: the standard has it cut at 512 characters. */
const STATE_CHARS = 512;

/** Returns a context with the caller's span, of which the ids and the flag for sampling count; an empty one without it. */
function callersContext(parent: string | undefined, state: string | undefined): Context {
  const [, version, traceId = '', spanId = '', flags = '', rest] = TRACEPARENT.exec(parent ?? '') ?? [];
  if (version === undefined || (version === '00' && rest !== undefined)) return ROOT_CONTEXT;
  const isSampled = (Number.parseInt(flags, 16) & TraceFlags.SAMPLED) !== 0;
  const context = {
    traceId,
    spanId,
    traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
    ...(state !== undefined && state.length <= STATE_CHARS ? { traceState: createTraceState(state) } : {}),
  };
  return isSpanContextValid(context) ? trace.setSpanContext(ROOT_CONTEXT, context) : ROOT_CONTEXT;
}
