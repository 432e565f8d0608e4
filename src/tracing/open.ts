/** Opens traces for OpenTelemetry. The service loads this folder, and with it the library, only where they are wanted. */
import { randomUUID } from 'node:crypto';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import { within } from '../concurrency/deadline.ts';
import type { Tracer } from '../concurrency/span.ts';
import type { Log } from '../control/ports/index.ts';
import { limits } from '../model/limits.ts';
import type { TracingOptions } from '../model/tracing/tracing-options.ts';
import { boundedQueue } from './bounded-queue.ts';
import { openCollector } from './collector.ts';
import { countLosses } from './losses.ts';
import { samplerOf } from './sampler.ts';
import { tracerOn } from './spans.ts';

export interface Traces {
  tracer: Tracer;
  /** Sends what has ended, within a bound, and ends the way to the collector. Never rejects. */
  close(): Promise<void>;
}

export interface TracesDependencies {
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
