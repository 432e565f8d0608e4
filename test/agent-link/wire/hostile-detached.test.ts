/** What an agent may claim of a process is bounded and checked, and a viewer without room holds it back. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { AgentLink, LivePiece } from '../../../src/control/ports/index.ts';
import { answering, data, end, fakeAgent, fault, item, reply, SANDBOX } from './fake-agent.ts';

afterEach(() => void vi.useRealTimers());

const begun = reply({ pid: 7, from: 0 });
const stdout = item({ stream: 'stdout' });
const exit = item({ exit_code: 0, signal: null, timed_out: false });
const takesAll = { begun() {}, show: (): undefined => {} };

const view = (
  agent: AgentLink,
  sink: Parameters<AgentLink['viewDetached']>[2] = takesAll,
  signal?: AbortSignal,
) => agent.viewDetached(SANDBOX, { process: '7', from: null }, sink, signal);
const start = (agent: AgentLink) =>
  agent.startDetached(SANDBOX, { argv: ['true'], cwd: '.', env: {}, label: 'true', timeoutMs: 1_000 });

describe('a breach of the protocol ends a view', () => {
  for (const [name, ...frames] of [
    ['data before the reply', data('x')],
    ['an item before the reply', stdout],
    ['an end in place of the reply', end()],
    ['a reply without its fields', reply({})],
    ['a position that is none', reply({ pid: 7, from: -1 })],
    ['a position that cannot be counted', reply({ pid: 7, from: 1e300 })],
    ['a pid that is none', reply({ pid: 0, from: 0 })],
    ['data before a stream is named', begun, data('x')],
    ['data after the exit', begun, stdout, exit, data('x')],
    ['a stream after the exit', begun, exit, stdout],
    ['two exits', begun, exit, exit],
    ['an end without an exit', begun, end()],
    ['an unknown item', begun, item({ news: 1 })],
    ['an unknown stream', begun, item({ stream: 'stdin' })],
    ['an item that is no object', begun, item(null)],
    ['an exit code that is none', begun, item({ exit_code: 256, signal: null, timed_out: false })],
    ['a signal that is none', begun, item({ exit_code: 1, signal: 'x'.repeat(1_000), timed_out: false })],
    ['an exit that says nothing of time', begun, item({ exit_code: 0, signal: null })],
    ['a second reply', begun, begun],
    ['a frame that is none', begun, Buffer.from('0000000009', 'hex')],
  ] as [string, ...Buffer[]][]) {
    it(name, async () => {
      const fake = answering(Buffer.concat(frames));
      await expect(view(fake.link)).rejects.toMatchObject({ code: 'unavailable' });
      expect(fake.closed()).toBe(true);
    });
  }

  it('an error, which may come at any time', async () => {
    const error = fault({ code: 'resource_exhausted', detail: 'no memory' });
    await expect(view(answering(Buffer.concat([begun, stdout, error])).link)).rejects.toMatchObject({
      code: 'resource_exhausted',
    });
  });

  it('its agent going away', async () => {
    const { link } = answering(Buffer.concat([begun, stdout, data('half')]), 'close');
    await expect(view(link)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('a breach of the protocol ends a call', () => {
  const usual = {
    ...{ pid: 7, tag: null, label: 'true', started_ms: 1, terminal: null, viewers: 0, output_bytes: 0 },
    end: null,
  };
  const list = (agent: AgentLink) => agent.listDetached(SANDBOX);
  it.each([
    ['a pid that is none', { pid: 4_194_305 }],
    ['a long tag', { tag: 'x'.repeat(65) }],
    ['a long label', { label: 'x'.repeat(401) }],
    ['a size that is none', { terminal: { columns: 80, rows: 1e9 } }],
    ['more viewers than there can be', { viewers: 257 }],
    ['a negative count', { output_bytes: -1 }],
    ['an end without a time', { end: { exit_code: 0, signal: null, timed_out: false } }],
  ])('in a list: %s', async (_name, wrong) => {
    const rest = reply({ busy: false });
    const fake = answering(Buffer.concat([item({ ...usual, ...wrong }), rest]));
    await expect(list(fake.link)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('more processes than there can be', async () => {
    const items = (count: number) => Array.from({ length: count }, () => item(usual));
    const most = answering(Buffer.concat([...items(256), reply({ busy: false })]));
    expect((await list(most.link)).processes).toHaveLength(256);
    const flood = answering(Buffer.concat([...items(257), reply({ busy: false })]));
    await expect(list(flood.link)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('a start without a pid', async () => {
    await expect(start(answering(reply({ started_ms: 1 })).link)).rejects.toMatchObject({
      code: 'unavailable',
    });
  });
});

describe('a viewer', () => {
  it('holds the agent back until it has room, and gets all of it in order', async () => {
    let written = 0;
    const piece = data(Buffer.alloc(64 << 10));
    const { link, closed } = fakeAgent((channel) => {
      const flood = () => {
        while (!channel.destroyed && channel.write(piece)) written += piece.length;
      };
      channel.once('data', () => {
        channel.write(Buffer.concat([begun, stdout]));
        channel.on('drain', flood);
        flood();
      });
    });
    let room = Promise.withResolvers<void>();
    const shown: LivePiece[] = [];
    const leave = new AbortController();
    const seen = view(
      link,
      {
        begun() {},
        show: (shownPiece) => {
          shown.push(shownPiece);
          return room.promise;
        },
      },
      leave.signal,
    ).catch((error: unknown) => error);
    await expect.poll(() => shown.length).toBeGreaterThan(0);
    await sleep(100);
    expect(written).toBeLessThan(4 << 20);
    const before = shown.length;
    const { resolve } = room;
    room = Promise.withResolvers<void>();
    resolve();
    await expect.poll(() => shown.length).toBeGreaterThan(before);
    leave.abort();
    expect(await seen).toBeInstanceOf(Error);
    expect(closed()).toBe(true);
  });

  it('has time without end once it has begun, and ten seconds before', async () => {
    vi.useFakeTimers();
    const silent = expect(view(fakeAgent(() => {}).link)).rejects.toMatchObject({ code: 'unavailable' });
    await vi.advanceTimersByTimeAsync(10_001);
    await silent;
    const idle = answering(begun);
    const leave = new AbortController();
    const left = expect(view(idle.link, takesAll, leave.signal)).rejects.toThrow();
    await vi.advanceTimersByTimeAsync(24 * 60 * 60 * 1000);
    expect(idle.closed()).toBe(false);
    leave.abort();
    await left;
    expect(idle.closed()).toBe(true);
  });
});

it('input that no program reads is refused after a minute', async () => {
  vi.useFakeTimers();
  const { link } = fakeAgent(() => {});
  const sent = expect(
    link.writeDetached(SANDBOX, '7', Buffer.from('x'), { close: false }),
  ).rejects.toMatchObject({ code: 'timeout' });
  await vi.advanceTimersByTimeAsync(60_001);
  await sent;
});

it('an agent of an earlier version has no such processes, and says what to do', async () => {
  const detail =
    'The request breaks the agent protocol: unknown variant `process_start`, expected one of `hello`.';
  const { link } = answering(fault({ code: 'invalid_argument', detail }));
  const expected = {
    code: 'failed_precondition',
    fields: { resource: 'agent', hint: 'Stop and start the sandbox; what runs in it ends then.' },
  };
  await expect(start(link)).rejects.toMatchObject(expected);
  await expect(view(link)).rejects.toMatchObject(expected);
});
