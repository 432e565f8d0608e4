/** Traces of calls in OpenTelemetry's own collector. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseTracingOptions } from '../../src/model/tracing-options.ts';
import { openTraces } from '../../src/tracing/open.ts';
import { type CollectorProcess, startCollector } from './collector-process.ts';
import { startService } from './service-of-parts.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';

let collector: CollectorProcess;

beforeAll(async () => {
  collector = await startCollector();
});
afterAll(() => collector?.stop());

it('a collector gets the whole trace of a command, and the last spans at the end', async () => {
  const env = { OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test', OTEL_SERVICE_NAME: 'boxes' };
  const options = parseTracingOptions(collector.endpoint, env);
  if (!options) throw new Error('there is an address');
  const traces = openTraces(options, { version: '1.2.3', log: { warn() {} } });
  const service = await startService(traces.tracer);
  await service.call('Sandbox.CreateSandbox', { name: 'one' });
  const traceparent = `00-${TRACE}-b7ad6b7169203331-01`;
  await service.call('Sandbox.RunCommand', { command: 'true' }, { traceparent });
  await service.close();
  await traces.close();
  await expect.poll(() => collector.spans.length).toBe(8);
  const ofTrace = collector.spans.filter(({ traceId }) => traceId === TRACE);
  const [exec] = ofTrace.filter(({ name }) => name === 'agent exec');
  const [tool] = ofTrace.filter(({ name }) => name === 'Sandbox.RunCommand');
  const [request] = ofTrace.filter(({ name }) => name === 'POST /v1/tools/:name');
  expect(exec?.parentSpanId).toBe(tool?.spanId);
  expect(tool?.parentSpanId).toBe(request?.spanId);
  expect(request?.parentSpanId).toBe('b7ad6b7169203331');
  expect(collector.resource()).toMatchObject({
    'service.name': 'boxes',
    'service.version': '1.2.3',
    'deployment.environment.name': 'test',
  });
});
