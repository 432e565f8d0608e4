/** Opens traces for OpenTelemetry. The service loads this folder, and with it the library, only where they are wanted. */
import { randomUUID } from 'node:crypto';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { type Context, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  type ReadableSpan,
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
import { operatorNames } from '../outbound/operator-names.ts';
import { boundedQueue, countLosses, type Losses } from './bounded-queue.ts';
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

// The way to the collector, over HTTP. A request that fails, or takes too long, is lost, and nothing but a code of it is
// shown: the texts of a foreign server are not the operator's.

const { exportMs, exportsAtOnce } = limits.traces;

type Done = Parameters<SpanExporter['export']>[1];

/** Result codes of an export, as the library has them. */
const FAILED = { code: 1 } as const;

export interface Collector {
  exporter: SpanExporter;
  /** Ends open requests: a connection would keep the process. */
  abort(): void;
}

export function openCollector({ url, headers }: TracingOptions, losses: Losses): Collector {
  const settings = { keepAlive: true, maxSockets: exportsAtOnce, lookup: operatorNames.lookup };
  const agent = url.startsWith('https:') ? new HttpsAgent(settings) : new HttpAgent(settings);
  const sender = new OTLPTraceExporter({
    url,
    headers,
    timeoutMillis: exportMs,
    concurrencyLimit: exportsAtOnce,
    httpAgentOptions: () => agent,
  });
  const exporter: SpanExporter = {
    export(spans: ReadableSpan[], done: Done) {
      let isOver = false;
      const end: Done = (result) => {
        if (isOver) return;
        isOver = true;
        clearTimeout(timer);
        if (result.code !== 0) losses.add(spans.length, reasonOf(result.error));
        done(result);
      };
      // The library's own limit is one of silence: a collector that answers a byte a second would hold its place for good.
      const timer = setTimeout(() => {
        agent.destroy();
        end({ ...FAILED, error: new Error('timed out') });
      }, exportMs);
      // Each in a turn of its own: at the end of the service all batches of the queue come at once.
      setImmediate(() => sender.export(spans, end));
    },
    /** Waits for requests under way. */
    async shutdown() {
      // One that was begun in this very turn is sent in the next.
      await new Promise((resolve) => setImmediate(resolve));
      await sender.shutdown();
    },
  };
  return { exporter, abort: () => agent.destroy() };
}

function reasonOf(error: (Error & { code?: unknown }) | undefined): string {
  const code = error?.code;
  if (typeof code === 'number') return `HTTP status ${code}`;
  if (typeof code === 'string' && /^[A-Z_0-9]{1,40}$/.test(code)) return code;
  return error?.message === 'timed out'
    ? 'the collector did not answer in time'
    : 'the collector refused them';
}
