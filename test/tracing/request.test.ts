/** The caller's part in traces: whose span is the parent, who decides what is kept, and whom nothing is believed. */
import { afterEach, describe, expect, it } from 'vitest';
import type { Sampling } from '../../src/model/tracing-options.ts';
import { type RecordedTraces, recordTraces } from './recorded-spans.ts';
import { type ServiceOfParts, startService } from './service-of-parts.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const sampled = `00-${TRACE}-${SPAN}-01`;
const notSampled = `00-${TRACE}-${SPAN}-00`;

let service: ServiceOfParts;

afterEach(() => service.close());

async function start(sampling?: Sampling): Promise<RecordedTraces> {
  const traces = recordTraces(sampling);
  service = await startService(traces.tracer);
  return traces;
}

const whoAmI = (headers: Record<string, string>) => service.call('Sandbox.WhoAmI', {}, headers);

async function firstSpan(traces: RecordedTraces) {
  return (await traces.spans()).find(({ name }) => name.startsWith('POST'));
}

describe('a caller’s span', () => {
  it('is the parent of the request’s, with its state', async () => {
    const traces = await start();
    await whoAmI({ traceparent: sampled, tracestate: 'vendor=one' });
    const span = await firstSpan(traces);
    expect(span?.parentSpanContext).toMatchObject({ traceId: TRACE, spanId: SPAN, isRemote: true });
    expect(span?.spanContext().traceId).toBe(TRACE);
    expect(span?.spanContext().traceState?.serialize()).toBe('vendor=one');
  });

  it.each([
    ['of version ff', `ff-${TRACE}-${SPAN}-01`],
    ['with more than version 00 has', `${sampled}-more`],
    ['without a trace', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['without a span', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['in capitals', sampled.toUpperCase()],
    ['too short', `00-${TRACE.slice(1)}-${SPAN}-01`],
    ['of many', `${sampled}, ${sampled}`],
    ['of nothing', ''],
  ])('that is malformed counts as none: %s', async (_, traceparent) => {
    const traces = await start();
    expect((await whoAmI({ traceparent, tracestate: 'a=b' })).status).toBe(200);
    const span = await firstSpan(traces);
    expect(span?.parentSpanContext).toBeUndefined();
    expect(span?.spanContext().traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(span?.spanContext().traceId).not.toBe(TRACE);
  });

  it('of a later version counts by the fields that are known', async () => {
    const traces = await start();
    await whoAmI({ traceparent: `01-${TRACE}-${SPAN}-ff-more` });
    expect((await firstSpan(traces))?.spanContext().traceId).toBe(TRACE);
  });

  it('is not believed before the key is checked, and a stranger’s request makes none', async () => {
    const traces = await start();
    const answer = await whoAmI({ traceparent: sampled, authorization: 'Bearer shv_wrong' });
    expect(answer.status).toBe(401);
    expect((await fetch(`${service.url}/healthz`, { headers: { traceparent: sampled } })).status).toBe(200);
    expect(await traces.spans()).toEqual([]);
  });
});

describe('sampling', () => {
  it('is the ratio’s, whatever the caller asks for', async () => {
    const none = await start({ ratio: 0, parentBased: false });
    await whoAmI({ traceparent: sampled });
    expect(await none.spans()).toEqual([]);
    await service.close();
    const all = await start({ ratio: 1, parentBased: false });
    await whoAmI({ traceparent: notSampled });
    expect(await firstSpan(all)).toBeDefined();
  });

  it('draws lots for each request: no trace id is kept by itself', async () => {
    const traces = await start({ ratio: 0.5, parentBased: false });
    for (let at = 0; at < 64; at++) await whoAmI({ traceparent: sampled });
    const kept = (await traces.spans()).filter(({ name }) => name.startsWith('POST')).length;
    expect(kept).toBeGreaterThan(0);
    expect(kept).toBeLessThan(64);
  });

  it('is the caller’s where the operator has it so', async () => {
    const traces = await start({ ratio: 0, parentBased: true });
    await whoAmI({});
    await whoAmI({ traceparent: notSampled });
    await whoAmI({ traceparent: sampled });
    const spans = await traces.spans();
    expect(spans.map(({ name }) => name).toSorted()).toEqual(['POST /v1/tools/:name', 'Sandbox.WhoAmI']);
  });
});
