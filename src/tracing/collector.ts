/**
 * The way to the collector, over HTTP. A request that fails, or takes too long, is lost, and nothing but a code of it is
 * shown: the texts of a foreign server are not the operator's.
 */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { limits } from '../model/limits.ts';
import type { TracingOptions } from '../model/tracing-options.ts';
import { operatorNames } from '../outbound/operator-names.ts';
import type { Losses } from './bounded-queue.ts';

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
