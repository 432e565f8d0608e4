/** Output that is shown while a program runs comes from an agent that root in the sandbox can stand in for. */
import { describe, expect, it, vi } from 'vitest';
import type { LiveOutput } from '../../../src/control/ports/index.ts';
import { longestTurn } from '../../support/event-loop.ts';
import { audience } from './audience.ts';
import { answeringInTurn, data, end, fakeAgent, greeting, item, reply, SANDBOX } from './fake-agent.ts';

const result = Buffer.concat([
  reply({
    ...{ exit_code: 0, timed_out: false, truncated: false, duration_ms: 1 },
    ...{ stdout_bytes: 0, stderr_bytes: 0, output_bytes: 0 },
  }),
  end(),
]);
const head = (stream: string, leftOut = 0) => item({ live: stream, left_out: leftOut });
const out = (content: Buffer | string, leftOut = 0) =>
  Buffer.concat([head('stdout', leftOut), data(content)]);

/** What a call shows when an agent of this version answers so. */
async function shownBy(answer: Buffer[], version = 4) {
  const { pieces, output } = audience(false);
  const fake = answeringInTurn([greeting(version), Buffer.concat(answer)]);
  const live = { generation: 7, output };
  const request = { argv: ['true'], cwd: '.', env: {}, timeoutMs: 60_000, live };
  const outcome = await fake.link.exec(SANDBOX, request).catch((error: unknown) => error);
  return { outcome, pieces, fake };
}

describe('live output', () => {
  it('is bytes as they came, with a gap before those that it is missing before, or alone at the end', async () => {
    const { pieces } = await shownBy([
      out(Buffer.from([0xe2, 0x82])),
      head('stderr'),
      data('e'),
      out(Buffer.from([0xac, 0xff]), 100),
      head('stderr', 9),
      result,
    ]);
    expect(pieces).toEqual([
      { stream: 'stdout', bytes: Buffer.from([0xe2, 0x82]), leftOutBytes: 0 },
      { stream: 'stderr', bytes: Buffer.from('e'), leftOutBytes: 0 },
      { stream: 'stdout', bytes: Buffer.from([0xac, 0xff]), leftOutBytes: 100 },
      { stream: 'stderr', bytes: Buffer.alloc(0), leftOutBytes: 9 },
    ]);
  });

  it.each([1, 2, 3])('is not asked of an agent of version %d', async (version) => {
    const { outcome, pieces, fake } = await shownBy([result], version);
    expect(outcome).toMatchObject({ exitCode: 0 });
    expect(pieces).toEqual([]);
    expect(JSON.parse(fake.received().subarray(5).toString())).toEqual({
      ...{ v: 1, op: 'exec', argv: ['true'], cwd: '.', env: {}, timeout_ms: 60_000, output_bytes: 1_048_576 },
    });
  });

  it('is not asked of an agent that does not greet, whose call still counts', async () => {
    const fake = answeringInTurn([reply({}), result]);
    const live = { generation: 7, output: audience(false).output };
    const request = { argv: ['true'], cwd: '.', env: {}, timeoutMs: 1_000, live };
    expect(await fake.link.exec(SANDBOX, request)).toMatchObject({ exitCode: 0 });
  });

  it('is asked for without a second greeting in the same run, and with one in the next', async () => {
    const fake = answeringInTurn([greeting(4), result, result, greeting(3, 8), result]);
    const versionAsked = async (generation: number) => {
      const live = { generation, output: audience(false).output };
      await fake.link.exec(SANDBOX, { argv: ['true'], cwd: '.', env: {}, timeoutMs: 1_000, live });
      return JSON.parse(fake.received().subarray(5).toString()).v as number;
    };
    expect([await versionAsked(7), await versionAsked(7), await versionAsked(8)]).toEqual([4, 4, 1]);
  });
});

describe('an agent that breaks the rules of live output gives unavailable', () => {
  const pieces = (count: number, bytes: number) => Array<Buffer>(count).fill(out(Buffer.alloc(bytes, 'x')));
  const breaches: [string, Buffer[]][] = [
    ['a stream of its own', [head('stdlog')]],
    ['a negative gap', [head('stdout', -1)]],
    ['a gap past all counting', [head('stdout', 2 ** 60)]],
    ['a field of its own', [item({ live: 'stdout', left_out: 0, more: 1 })]],
    ['a large head', [item({ live: 'stdout', left_out: 0, more: 'x'.repeat(100_000) })]],
    ['data before a stream is named', [data('x')]],
    ['a piece over 16 KiB', [out(Buffer.alloc(16_385))]],
    ['a piece over 16 KiB in parts', [out(Buffer.alloc(16_000)), data(Buffer.alloc(16_000))]],
    ['a giant frame', [head('stdout'), Buffer.from('ffffffff05', 'hex')]],
    ['over 16 MiB', pieces(1_100, 16_384)],
    ['over 16 MiB in the tiniest pieces', pieces(270_000, 1)],
    ['heads alone without end', Array<Buffer>(270_000).fill(head('stdout'))],
    ['an item of something else', [out('x'), item({ name: 'a' }), result]],
  ];
  it.each(breaches)('%s', async (_, answer) => {
    const { outcome, fake } = await shownBy([...answer, result]);
    expect(outcome).toMatchObject({ code: 'unavailable', message: expect.stringContaining('protocol') });
    expect(fake.closed()).toBe(true);
  });

  it('live output after a chart', async () => {
    const chart = { type: 'line', title: null, x_label: null, y_label: null, x_scale: null, y_scale: null };
    const answer = Buffer.concat([item({ ...chart, elements: [] }), data('png'), out('late'), result]);
    const fake = answeringInTurn([greeting(4), answer]);
    const live = { generation: 7, output: audience(false).output };
    await expect(
      fake.link.runCode(SANDBOX, { language: 'python', code: '', env: {}, timeoutMs: 1_000, live }),
    ).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('live output that nobody asked for', async () => {
    const fake = answeringInTurn([Buffer.concat([out('x'), result])]);
    await expect(
      fake.link.exec(SANDBOX, { argv: ['true'], cwd: '.', env: {}, timeoutMs: 1_000 }),
    ).rejects.toMatchObject({ code: 'unavailable' });
  });
});

it.each([false, true])('a flood leaves the loop to others, wanted whole: %s', async (whole) => {
  const tiny = Buffer.concat(Array<Buffer>(200_000).fill(out('x')));
  let greeted = false;
  const fake = fakeAgent((channel) => {
    channel.once('data', () => {
      channel.write(greeted ? Buffer.concat([tiny, result]) : greeting(6));
      greeted = true;
    });
  });
  const { pieces, output } = audience(whole);
  const live = { generation: 7, output };
  const request = { argv: ['true'], cwd: '.', env: {}, timeoutMs: 60_000, live };
  const { ms, result: outcome } = await longestTurn(() => fake.link.exec(SANDBOX, request));
  expect(outcome).toMatchObject({ exitCode: 0 });
  expect(pieces.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBe(200_000);
  expect(ms).toBeLessThan(100);
});

describe('live output that is wanted whole', () => {
  const live = (output: LiveOutput) => ({ generation: 7, output });
  const request = { argv: ['true'], cwd: '.', env: {}, timeoutMs: 100 };

  it('has no bound, and stops reading the agent while its reader has no room', async () => {
    const room = Promise.withResolvers<void>();
    const { pieces, output } = audience(true, () => room.promise);
    const flood = Array<Buffer>(1_200).fill(out(Buffer.alloc(16_384, 'x')));
    const fake = answeringInTurn([greeting(6), Buffer.concat([...flood, result])]);
    const shown = () => pieces.reduce((sum, { bytes }) => sum + bytes.length, 0);
    const ended = fake.link.exec(SANDBOX, { ...request, live: live(output) });
    await expect.poll(() => pieces.length).toBeGreaterThan(0);
    await new Promise(setImmediate);
    expect(shown()).toBeLessThan(100_000);
    room.resolve();
    expect(await ended).toMatchObject({ exitCode: 0 });
    expect(shown()).toBe(1_200 * 16_384);
  });

  it('is of the agent in time while its reader alone is late, and late when the agent is', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      for (const [last, expected] of [
        [result, { exitCode: 0 }],
        [Buffer.alloc(0), { code: 'unavailable' }],
      ] as const) {
        const room = Promise.withResolvers<void>();
        const { pieces, output } = audience(true, () => room.promise);
        const fake = answeringInTurn([greeting(6), Buffer.concat([out('x'), last])]);
        const ended = fake.link
          .exec(SANDBOX, { ...request, live: live(output) })
          .catch((error: unknown) => error);
        await vi.waitUntil(() => pieces.length > 0);
        vi.advanceTimersByTime(600_000);
        room.resolve();
        await new Promise(setImmediate);
        await new Promise(setImmediate);
        vi.advanceTimersByTime(60_000);
        expect(await ended).toMatchObject(expected);
      }
    } finally {
      vi.useRealTimers();
    }
  });

  it('is asked of an agent of version 6 alone; an earlier one may leave some out', async () => {
    const asked = async (version: number) => {
      const fake = answeringInTurn([greeting(version), result]);
      await fake.link.exec(SANDBOX, { ...request, live: live(audience(true).output) });
      const { v, live: shown, whole } = JSON.parse(fake.received().subarray(5).toString());
      return [v, shown, whole];
    };
    expect(await asked(6)).toEqual([6, true, true]);
    expect(await asked(5)).toEqual([4, true, undefined]);
    expect(await asked(3)).toEqual([1, undefined, undefined]);
  });
});
