/** Output that is shown while a program runs comes from an agent that root in the sandbox can stand in for. */
import { describe, expect, it } from 'vitest';
import type { LivePiece } from '../../../src/control/ports/index.ts';
import { longestTurn } from '../../support/event-loop.ts';
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
  const pieces: LivePiece[] = [];
  const fake = answeringInTurn([greeting(version), Buffer.concat(answer)]);
  const live = { generation: 7, output: (piece: LivePiece) => void pieces.push(piece) };
  const request = { argv: ['true'], cwd: '.', env: {}, timeoutMs: 1_000, live };
  const outcome = await fake.link.exec(SANDBOX, request).catch((error: unknown) => error);
  return { outcome, pieces, fake };
}

describe('live output', () => {
  it('has whole characters, however the pieces cut them', async () => {
    const euro = Buffer.from('€');
    const { pieces } = await shownBy([
      out(euro.subarray(0, 1)),
      head('stderr'),
      data('e'),
      out(euro.subarray(1, 2)),
      out(Buffer.concat([euro.subarray(2), Buffer.from('x')])),
      result,
    ]);
    expect(pieces).toEqual([
      { stream: 'stderr', text: 'e', leftOutBytes: 0 },
      { stream: 'stdout', text: '€x', leftOutBytes: 0 },
    ]);
  });

  it('counts a character with a gap in it as left out', async () => {
    const euro = Buffer.from('€');
    const { pieces } = await shownBy([
      out(Buffer.concat([Buffer.from('a'), euro.subarray(0, 2)])),
      out(Buffer.concat([euro.subarray(2), Buffer.from('b')]), 100),
      result,
    ]);
    expect(pieces).toEqual([
      { stream: 'stdout', text: 'a', leftOutBytes: 0 },
      { stream: 'stdout', text: 'b', leftOutBytes: 103 },
    ]);
  });

  it('ends as its stream does, in the middle of a character or after a gap', async () => {
    const { pieces } = await shownBy([out(Buffer.from([0xe2, 0x82])), head('stderr', 9), result]);
    expect(pieces).toEqual([
      { stream: 'stdout', text: '\u{fffd}', leftOutBytes: 0 },
      { stream: 'stderr', text: '', leftOutBytes: 9 },
    ]);
  });

  it('keeps a byte order mark, as the result does', async () => {
    const { pieces } = await shownBy([out('\u{feff}a'), result]);
    expect(pieces).toEqual([{ stream: 'stdout', text: '\u{feff}a', leftOutBytes: 0 }]);
  });

  it.each([1, 2, 3])('is not asked of an agent of version %d', async (version) => {
    const { outcome, pieces, fake } = await shownBy([result], version);
    expect(outcome).toMatchObject({ exitCode: 0 });
    expect(pieces).toEqual([]);
    expect(JSON.parse(fake.received().subarray(5).toString())).toEqual({
      ...{ v: 1, op: 'exec', argv: ['true'], cwd: '.', env: {}, timeout_ms: 1_000, output_bytes: 1_048_576 },
    });
  });

  it('is not asked of an agent that does not greet, whose call still counts', async () => {
    const pieces: LivePiece[] = [];
    const fake = answeringInTurn([reply({}), result]);
    const live = { generation: 7, output: (piece: LivePiece) => void pieces.push(piece) };
    const request = { argv: ['true'], cwd: '.', env: {}, timeoutMs: 1_000, live };
    expect(await fake.link.exec(SANDBOX, request)).toMatchObject({ exitCode: 0 });
  });

  it('is asked for without a second greeting in the same run, and with one in the next', async () => {
    const fake = answeringInTurn([greeting(4), result, result, greeting(3, 8), result]);
    const versionAsked = async (generation: number) => {
      const live = { generation, output: () => {} };
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
    const live = { generation: 7, output: () => {} };
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

it('a flood leaves the loop to others', async () => {
  const tiny = Buffer.concat(Array<Buffer>(200_000).fill(out('x')));
  let greeted = false;
  const fake = fakeAgent((channel) => {
    channel.once('data', () => {
      channel.write(greeted ? Buffer.concat([tiny, result]) : greeting(4));
      greeted = true;
    });
  });
  let shown = 0;
  const countText = ({ text }: LivePiece) => {
    shown += text.length;
  };
  const live = { generation: 7, output: countText };
  const request = { argv: ['true'], cwd: '.', env: {}, timeoutMs: 60_000, live };
  const { ms, result: outcome } = await longestTurn(() => fake.link.exec(SANDBOX, request));
  expect(outcome).toMatchObject({ exitCode: 0 });
  expect(shown).toBe(200_000);
  expect(ms).toBeLessThan(100);
});
