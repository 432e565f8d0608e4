/** Ended spans on their way to the collector: a bounded queue, which drops what comes too fast, and counts it. */
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace';
import { limits } from '../model/limits.ts';
import type { Losses } from './losses.ts';

const { queuedSpans, batchSpans, delayMs, exportMs } = limits.traces;

export interface BoundedQueue {
  processor: SpanProcessor;
  /** Number of ended spans that no request has brought to its end yet. */
  left(): number;
}

/** The library's queue is bounded too, but drops without a word: so the places are counted here. */
export function boundedQueue(exporter: SpanExporter, losses: Losses): BoundedQueue {
  let waiting = 0;
  let underWay = 0;
  const batches = new BatchSpanProcessor({
    exporter: {
      export(spans, done) {
        waiting -= spans.length;
        underWay += spans.length;
        exporter.export(spans, (result) => {
          underWay -= spans.length;
          done(result);
        });
      },
      shutdown: () => exporter.shutdown(),
    },
    maxQueueSize: queuedSpans,
    maxExportBatchSize: batchSpans,
    scheduledDelayMillis: delayMs,
    // The exporter ends in time by itself, and says why.
    exportTimeoutMillis: 2 * exportMs,
  });
  const processor: SpanProcessor = {
    onStart: () => {},
    onEnd(span: ReadableSpan) {
      if (waiting >= queuedSpans) return losses.add(1, 'more spans ended than the collector takes');
      waiting++;
      return batches.onEnd(span);
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  };
  return { processor, left: () => waiting + underWay };
}
