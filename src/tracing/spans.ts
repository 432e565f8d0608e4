/** Spans and traces of the core, as OpenTelemetry's. */
import {
  type Span as Recorded,
  type Tracer as Recorder,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { Span, SpanAttributes, Tracer } from '../concurrency/span.ts';
import { limits } from '../model/limits.ts';
import { callersContext } from './parent.ts';

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
