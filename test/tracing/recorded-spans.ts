/** Traces whose spans stay in memory, as an exporter gets them. */
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { Span, SpanAttributes } from '../../src/concurrency/span.ts';
import type { Sampling, TracingOptions } from '../../src/model/tracing-options.ts';
import { openTraces, type Traces } from '../../src/tracing/open.ts';

export interface RecordedTraces extends Traces {
  /** Names of begun spans, of requests left out. */
  begun: string[];
  /** Ends the traces, and returns all spans in the order of their beginnings. */
  spans(): Promise<ReadableSpan[]>;
}

export const everyTrace: Sampling = { ratio: 1, parentBased: false };

export const toNowhere: TracingOptions = {
  url: 'http://127.0.0.1:1/v1/traces',
  headers: {},
  serviceName: 'sandhaven',
  resource: {},
  sampling: everyTrace,
};

export function recordTraces(sampling: Sampling = everyTrace): RecordedTraces {
  const exported: ReadableSpan[] = [];
  const exporter = {
    export(spans: ReadableSpan[], done: (result: { code: number }) => void) {
      exported.push(...spans);
      done({ code: 0 });
    },
    shutdown: async () => {},
  };
  const log = { warn() {} };
  const traces = openTraces({ ...toNowhere, sampling }, { version: '1.2.3', log, exporter });
  const begun: string[] = [];
  const traceIds: string[] = [];
  // Clocks of two traces differ by a millisecond at most: so their order is that of their beginnings here.
  const turnOf = (span: ReadableSpan) => traceIds.indexOf(span.spanContext().traceId);
  const watched = (span: Span): Span =>
    Object.assign(Object.create(span), {
      child(name: string, attributes: SpanAttributes) {
        begun.push(name);
        return watched(span.child(name, attributes));
      },
    });
  return {
    ...traces,
    begun,
    tracer: {
      begin(start) {
        const span = traces.tracer.begin(start);
        if (span) traceIds.push(span.traceId);
        return span && watched(span);
      },
    },
    async spans() {
      await traces.close();
      return exported.toSorted((a, b) => turnOf(a) - turnOf(b) || beginning(a) - beginning(b));
    },
  };
}

function beginning({ startTime: [seconds, nanoseconds] }: ReadableSpan): number {
  return seconds * 1e3 + nanoseconds / 1e6;
}

/** Lines of `name key=value…`, each child two spaces deeper than its parent, by the order of their beginnings. */
export function treeOf(spans: readonly ReadableSpan[], shown: readonly string[] = []): string[] {
  const ids = new Set(spans.map((span) => span.spanContext().spanId));
  const below = (parent: string | undefined, depth: number): string[] =>
    spans
      .filter(({ parentSpanContext: of }) => (of && ids.has(of.spanId) ? of.spanId : undefined) === parent)
      .flatMap((span) => [
        `${'  '.repeat(depth)}${[span.name, ...attributesOf(span, shown)].join(' ')}`,
        ...below(span.spanContext().spanId, depth + 1),
      ]);
  return below(undefined, 0);
}

function attributesOf({ attributes }: ReadableSpan, shown: readonly string[]): string[] {
  return shown.filter((key) => attributes[key] !== undefined).map((key) => `${key}=${attributes[key]}`);
}
