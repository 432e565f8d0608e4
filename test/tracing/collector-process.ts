/** A real collector in a process of its own, by the receiver of OpenTelemetry's. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { otelCollectorProgram } from '../../setup/go/otel-collector-version.ts';

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes?: { key: string; value: Record<string, string> }[];
}

export interface CollectorProcess {
  endpoint: string;
  spans: ReceivedSpan[];
  /** Attributes of the resource of the last request. */
  resource(): Record<string, string | undefined>;
  stop(): Promise<void>;
}

interface ReceivedTraces {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue?: string } }[] };
    scopeSpans: { spans: ReceivedSpan[] }[];
  }[];
}

export async function startCollector(): Promise<CollectorProcess> {
  if (!existsSync(otelCollectorProgram))
    throw new Error(`${otelCollectorProgram} is missing: run \`make otel-collector\``);
  const port = await freePort();
  const child = spawn(otelCollectorProgram, [`127.0.0.1:${port}`], { stdio: ['ignore', 'pipe', 'inherit'] });
  const spans: ReceivedSpan[] = [];
  let resource: Record<string, string | undefined> = {};
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
  child.once('exit', () => reject(new Error('the collector ended')));
  createInterface(child.stdout).on('line', (line) => {
    if (line === 'ready') return resolve();
    for (const part of (JSON.parse(line) as ReceivedTraces).resourceSpans) {
      resource = Object.fromEntries(
        part.resource.attributes.map(({ key, value }) => [key, value.stringValue]),
      );
      spans.push(...part.scopeSpans.flatMap((scope) => scope.spans));
    }
  });
  await ready;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    spans,
    resource: () => resource,
    stop: () => ended(child),
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  child.once('exit', () => resolve());
  child.kill('SIGTERM');
  await promise;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
