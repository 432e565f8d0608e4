/** Spans by the asynchronous context: what is beneath what, and work that is of no span. */
import { describe, expect, it } from 'vitest';
import { KeyedQueue } from '../../src/concurrency/keyed-queue.ts';
import { apart, beneath, inBackground, inOwnSpan, inSpan } from '../../src/concurrency/span.ts';
import { SandhavenError } from '../../src/model/errors.ts';
import { recordTraces, treeOf } from '../tracing/recorded-spans.ts';

const work = async () => {};

describe('a span', () => {
  it('is none without traces', async () => {
    expect(await inSpan('a', {}, async (span) => span)).toBeNull();
    expect(await inOwnSpan('a', {}, async (span) => span)).toBeNull();
    expect(await inBackground(null, () => inOwnSpan('a', {}, async (span) => span))).toBeNull();
  });

  it('of queued work is beneath the span of who asked, not of the work before it', async () => {
    const { tracer, spans } = recordTraces();
    const queue = new KeyedQueue({ preempted: () => new Error('pre-empted') });
    const ask = (name: string) =>
      inOwnSpan(name, {}, () => queue.run('key', () => inSpan(`work of ${name}`, {}, work)));
    await inBackground(tracer, () => Promise.all([ask('one'), ask('two'), ask('three')]));
    expect(treeOf(await spans()).toSorted()).toEqual(
      ['one', '  work of one', 'two', '  work of two', 'three', '  work of three'].toSorted(),
    );
  });

  it('has no work beneath it that outlives it', async () => {
    const { tracer, spans } = recordTraces();
    const { promise, resolve } = Promise.withResolvers<void>();
    const { promise: later, resolve: done } = Promise.withResolvers<void>();
    await inBackground(tracer, () =>
      inOwnSpan('request', {}, async () => {
        const outlive = async () => {
          await promise;
          await inSpan('left out', {}, work);
          await inOwnSpan('of its own', {}, work);
        };
        void outlive().then(done);
      }),
    );
    resolve();
    await later;
    expect(treeOf(await spans())).toEqual(['request', 'of its own']);
  });

  it('has none beneath it of what it only caused', async () => {
    const { tracer, spans } = recordTraces();
    await inBackground(tracer, () =>
      inOwnSpan('request', {}, () => apart(() => inOwnSpan('pool', {}, work))),
    );
    expect(treeOf(await spans()).toSorted()).toEqual(['pool', 'request']);
  });

  it('that is not kept has nothing beneath it', async () => {
    const { tracer, spans } = recordTraces();
    await beneath(tracer, null, () => inSpan('a', {}, () => inOwnSpan('b', {}, work)));
    expect(await spans()).toEqual([]);
  });

  it.each([
    ['not_found', new SandhavenError('not_found', 'canary')],
    ['cancelled', new DOMException('canary', 'AbortError')],
    ['internal', Object.assign(new Error('canary'), { code: 'canary' })],
    ['internal', 'canary'],
  ])('of failed work has the outcome %s, and no text of the error', async (outcome, error) => {
    const { tracer, spans } = recordTraces();
    const failing = inBackground(tracer, () => inOwnSpan('a', {}, () => Promise.reject(error)));
    await expect(failing).rejects.toBe(error);
    const [span] = await spans();
    expect(span?.attributes).toEqual({ 'sandhaven.outcome': outcome });
    expect(span?.status).toEqual({ code: 2 });
  });

  it('has at most 511 more in its trace', async () => {
    const { tracer, spans } = recordTraces();
    const request = tracer.begin({ name: 'request', attributes: {} });
    await beneath(tracer, request, async () => {
      for (let made = 0; made < 600; made++) await inSpan('work', {}, work);
    });
    request?.end('ok');
    expect(await spans()).toHaveLength(512);
  });

  it('bounds its attributes', async () => {
    const { tracer, spans } = recordTraces();
    tracer.begin({ name: 'a', attributes: { 'http.route': 'x'.repeat(1_000) } })?.end('ok');
    expect((await spans())[0]?.attributes['http.route']).toBe('x'.repeat(128));
  });
});
