/** Ended spans on their way to the collector: a bounded queue, which drops what comes too fast, and counts it. */
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace';
import type { Log } from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';

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

/** Counts spans that no collector got, and warns of them at most once a minute: a dead one must not fill the log. */
export interface Losses {
  /** @param reason No text of the collector. */
  add(spans: number, reason: string): void;
  /** Warns of those that no warning has counted, and counts no more. */
  close(): void;
}

export function countLosses(log: Pick<Log, 'warn'>, warningMs: number = limits.traces.warningMs): Losses {
  let lost = 0;
  let last = '';
  let isClosed = false;
  let timer: NodeJS.Timeout | null = null;
  const warn = () => {
    if (lost > 0) log.warn('spans of traces were lost', { spans: lost, reason: last });
    lost = 0;
  };
  const rest = () => {
    timer = setTimeout(() => {
      timer = null;
      if (lost === 0) return;
      warn();
      rest();
    }, warningMs);
    timer.unref();
  };
  return {
    add(spans, reason) {
      if (isClosed) return;
      lost += spans;
      last = reason;
      if (timer) return;
      warn();
      rest();
    },
    close() {
      isClosed = true;
      if (timer) clearTimeout(timer);
      warn();
    },
  };
}
