/** Traces, loaded only where the operator names a collector: other services hold none of OpenTelemetry's code. */
import type { Tracer } from '../../concurrency/span.ts';
import type { Log } from '../../control/ports/index.ts';
import type { TracingOptions } from '../../model/tracing-options.ts';
import { version } from '../../version.ts';
import { isLoopback } from '../options/announce.ts';

export interface OpenTracing {
  tracer: Tracer;
  close(): Promise<void>;
}

export async function openTracing(options: TracingOptions | null, log: Log): Promise<OpenTracing | null> {
  if (options === null) return null;
  const { protocol, hostname } = new URL(options.url);
  if (protocol === 'http:' && !isLoopback(hostname.replace(/^\[(.*)\]$/, '$1')))
    log.warn('traces go over the network unencrypted: the address of the collector has no TLS');
  const { openTraces } = await import('../../tracing/open.ts');
  return openTraces(options, { version, log });
}
