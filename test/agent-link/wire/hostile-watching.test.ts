/** What an agent may claim of changes is bounded and checked, and a client without room holds it back. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { AgentLink, WatchSink } from '../../../src/control/ports/index.ts';
import { answering, data, end, fakeAgent, fault, item, reply, SANDBOX } from './fake-agent.ts';

afterEach(() => void vi.useRealTimers());

const begun = reply({});
const created = { type: 'created', path: 'a', folder: false };
const takesAll: WatchSink = { begun() {}, changed: () => undefined };

const watch = (agent: AgentLink, sink = takesAll, signal?: AbortSignal) =>
  agent.watchFiles(SANDBOX, { path: '.', recursive: true }, sink, signal);

describe('a breach of the protocol ends a watch:', () => {
  for (const [name, ...frames] of [
    ['changes before the reply', item([created])],
    ['an end in place of the reply', end()],
    ['a second reply', begun, begun],
    ['data', begun, data('x')],
    ['an item that is no list', begun, item(created)],
    ['a change of no kind', begun, item([{ ...created, type: 'opened' }])],
    ['a change without a path', begun, item([{ type: 'created', folder: false }])],
    ['an empty path', begun, item([{ ...created, path: '' }])],
    ['a path that is too long', begun, item([{ ...created, path: 'x'.repeat(4_096) }])],
    ['a path that is none', begun, item([{ ...created, path: 7 }])],
    ['a rename from nowhere', begun, item([{ ...created, type: 'renamed' }])],
    ['no word of folders', begun, item([{ type: 'created', path: 'a' }])],
    [
      'more changes than an item has',
      begun,
      item(Array.from({ length: 4_001 }, () => ({ type: 'overflow' }))),
    ],
    ['an item that is too large', begun, item([{ ...created, more: 'x'.repeat(131_072) }])],
  ] as [string, ...Buffer[]][]) {
    it(name, async () => {
      const fake = answering(Buffer.concat(frames));
      await expect(watch(fake.link)).rejects.toMatchObject({ code: 'unavailable' });
      expect(fake.closed()).toBe(true);
    });
  }

  it('but for an error, which may come at any time', async () => {
    const error = fault({ code: 'resource_exhausted', detail: 'too many folders' });
    const { link } = answering(Buffer.concat([begun, item([created]), error]));
    await expect(watch(link)).rejects.toMatchObject({ code: 'resource_exhausted' });
  });

  it('and so does its agent going away', async () => {
    const { link } = answering(begun, 'close');
    await expect(watch(link)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

it('a client without room holds the agent back', async () => {
  let written = 0;
  const piece = item(Array.from({ length: 1_000 }, () => created));
  const { link, closed } = fakeAgent((channel) => {
    const flood = () => {
      while (!channel.destroyed && channel.write(piece)) written += piece.length;
    };
    channel.once('data', () => {
      channel.write(begun);
      channel.on('drain', flood);
      flood();
    });
  });
  let taken = 0;
  let room = Promise.withResolvers<void>();
  const changed = () => {
    taken += 1;
    return room.promise;
  };
  const leave = new AbortController();
  const watched = watch(link, { begun() {}, changed }, leave.signal).catch((error: unknown) => error);
  await expect.poll(() => taken).toBeGreaterThan(0);
  await sleep(100);
  expect(written).toBeLessThan(4 << 20);
  const before = taken;
  const { resolve } = room;
  room = Promise.withResolvers<void>();
  resolve();
  await expect.poll(() => taken).toBeGreaterThan(before);
  leave.abort();
  expect(await watched).toBeInstanceOf(Error);
  expect(closed()).toBe(true);
});

it('an agent has a minute to watch all folders, and time without end afterwards', async () => {
  vi.useFakeTimers();
  const silent = expect(watch(fakeAgent(() => {}).link)).rejects.toMatchObject({ code: 'unavailable' });
  await vi.advanceTimersByTimeAsync(60_001);
  await silent;
  const idle = answering(begun);
  const leave = new AbortController();
  const left = expect(watch(idle.link, takesAll, leave.signal)).rejects.toThrow();
  await vi.advanceTimersByTimeAsync(24 * 60 * 60 * 1000);
  expect(idle.closed()).toBe(false);
  leave.abort();
  await left;
});

it('an agent of an earlier version watches no files, and says what to do', async () => {
  const detail =
    'The request breaks the agent protocol: unknown variant `watch_files`, expected one of `hello`.';
  await expect(watch(answering(fault({ code: 'invalid_argument', detail })).link)).rejects.toMatchObject({
    code: 'failed_precondition',
    fields: { resource: 'agent', hint: 'Stop and start the sandbox; what runs in it ends then.' },
  });
});
