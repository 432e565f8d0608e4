/** Opens traces for OpenTelemetry. The service loads this folder, and with it the library, only where they are wanted. */
import { randomUUID } from 'node:crypto';
import { type Context, trace } from '@opentelemetry/api';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  type Sampler,
  SamplingDecision,
  type SamplingResult,
  type SpanExporter,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { within } from '../concurrency/deadline.ts';
import type { Tracer } from '../concurrency/span.ts';
import type { Log } from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';
import type { Sampling, TracingOptions } from '../model/tracing-options.ts';
import { boundedQueue, countLosses } from './bounded-queue.ts';
import { openCollector } from './collector.ts';
import { tracerOn } from './spans.ts';

export interface Traces {
  tracer: Tracer;
  /** Sends what has ended, within a bound, and ends the way to the collector. Never rejects. */
  close(): Promise<void>;
}

interface TracesDependencies {
  version: string;
  log: Pick<Log, 'warn'>;
  /** Takes the place of the collector. */
  exporter?: SpanExporter;
}

export function openTraces(options: TracingOptions, { version, log, exporter }: TracesDependencies): Traces {
  const losses = countLosses(log);
  const collector = exporter ? { exporter, abort: () => {} } : openCollector(options, losses);
  const queue = boundedQueue(collector.exporter, losses);
  const { attributes, attributeChars, flushMs } = limits.traces;
  const own = {
    'service.version': version,
    'service.instance.id': randomUUID(),
    ...options.resource,
    'service.name': options.serviceName,
  };
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes(own)),
    sampler: samplerOf(options.sampling),
    spanProcessors: [queue.processor],
    spanLimits: { attributeCountLimit: attributes, attributeValueLengthLimit: attributeChars },
  });
  return {
    tracer: tracerOn(provider.getTracer('sandhaven', version)),
    async close() {
      await within(flushMs, provider.shutdown(), tooLate).catch(() => {});
      if (queue.left() > 0) losses.add(queue.left(), 'the service ended before the collector took them');
      losses.close();
      collector.abort();
    },
  };
}

function tooLate(): never {
  throw new Error('the collector took too long');
}

/** Decides which traces are kept. Only first spans are asked about: nothing begins beneath one that is not kept. */
const keep: SamplingResult = { decision: SamplingDecision.RECORD_AND_SAMPLED };
const leaveOut: SamplingResult = { decision: SamplingDecision.NOT_RECORD };

/**
 * The library's sampler by ratio judges the trace id. A caller who chooses the id would choose the decision, so this one draws
 * lots.
 */
function samplerOf({ ratio, parentBased }: Sampling): Sampler {
  return {
    shouldSample(context: Context): SamplingResult {
      const parent = trace.getSpanContext(context);
      if (parent && (!parent.isRemote || parentBased)) return parent.traceFlags === 1 ? keep : leaveOut;
      return Math.random() < ratio ? keep : leaveOut;
    },
    toString: () => `Sampler{${ratio}, ${parentBased ? 'parent-based' : 'by ratio alone'}}`,
  };
}
