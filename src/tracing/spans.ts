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
import { callersContext } from './parent.ts';

export function tracerOn(recorder: Recorder): Tracer {
  return {
    begin({ name, attributes, request }) {
      const context = request ? callersContext(request.parent, request.state) : ROOT_CONTEXT;
      const kind = request ? SpanKind.SERVER : SpanKind.INTERNAL;
      const options = {
        kind,
        attributes: { ...attributes },
        ...(request ? { startTime: request.begunAt } : {}),
      };
      const span = recorder.startSpan(name, options, context);
      return span.isRecording() ? spanOn(recorder, span) : null;
    },
  };
}

function spanOn(recorder: Recorder, recorded: Recorded): Span {
  const beneath = trace.setSpan(ROOT_CONTEXT, recorded);
  return {
    traceId: recorded.spanContext().traceId,
    get hasEnded() {
      return !recorded.isRecording();
    },
    child: (name, attributes) =>
      spanOn(recorder, recorder.startSpan(name, { attributes: { ...attributes } }, beneath)),
    set: (attributes: SpanAttributes) => void recorded.setAttributes({ ...attributes }),
    end(outcome) {
      if (!recorded.isRecording()) return;
      recorded.setAttributes({ 'sandhaven.outcome': outcome });
      if (outcome !== 'ok') recorded.setStatus({ code: SpanStatusCode.ERROR });
      // Of the clock that does not jump, since the first span's beginning is given.
      recorded.end(performance.now());
    },
  };
}
