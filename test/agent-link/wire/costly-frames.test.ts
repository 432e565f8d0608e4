/** What an agent that is none may make the service's thread do: little at a time, whatever it sends. */
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { longestTurn } from '../../support/event-loop.ts';
import { answering, data, fakeAgent, fault, item, reply, SANDBOX } from './fake-agent.ts';

const BREACH_CHARS = 300;
/** At least, of what arrives at once: a turn's share is one of time, and has less where others take the processor. */
const AVERAGE_BYTES = 20;

const mib = 2 ** 20;
const raw = (type: number, json: string): Buffer => {
  const header = Buffer.alloc(5);
  header.writeUInt32LE(json.length, 0);
  header[4] = type;
  return Buffer.concat([header, Buffer.from(json)]);
};
const asked = { path: '.', maxItems: 200, offset: 0 };

describe('an answer that is wrong a million times ends at its first fault', () => {
  const wrong = `[${'{},'.repeat(1.3e6)}{}]`;
  const many = `[${'7,'.repeat(60_000)}7]`;
  it.each([
    ['a list of a million entries', raw(4, wrong), 'list'],
    ['a list of wrong entries', raw(4, many), 'list'],
    ['a list of wrong paths', raw(4, many), 'find'],
    ['an entry of a million keys', raw(4, `[{${'"k":0,'.repeat(6e5)}"k":0}]`), 'list'],
    ['an error with a million values', raw(3, `{"code":"internal","detail":[${many}]}`), 'list'],
    ['an error of four megabytes', fault({ code: 'internal', detail: 'x\n'.repeat(2e6) }), 'list'],
    ['ports without end', raw(2, `{"ports":[${'{"port":0,"name":"x"},'.repeat(20_000)}{}]}`), 'ports'],
  ] as const)('%s', async (_name, answer, operation) => {
    const { link } = answering(Buffer.concat([answer, reply({ total_count: 1 })]));
    const call =
      operation === 'ports'
        ? link.ports(SANDBOX)
        : operation === 'find'
          ? link.find(SANDBOX, { ...asked, pattern: '*' })
          : link.list(SANDBOX, asked);
    const error = await call.catch((caught: Error) => caught);
    expect(error).toMatchObject({ code: 'unavailable' });
    expect(String((error as Error).cause).length).toBeLessThan(BREACH_CHARS + 100);
  });
});

describe('data in frames of one byte', () => {
  const bytes = 40_000;
  const frames = Buffer.concat(Array.from({ length: bytes }, (_, at) => data(Buffer.of(at % 251))));

  it('comes whole and in order, and not in pieces of one byte', async () => {
    const tunnel = await answering(Buffer.concat([reply({}), frames]), 'wait').link.connectPort(SANDBOX, 80);
    const pieces: Buffer[] = [];
    tunnel.on('data', (piece: Buffer) => pieces.push(piece));
    while (pieces.reduce((sum, { length }) => sum + length, 0) < bytes) await nextTurn();
    tunnel.destroy();
    expect(Buffer.concat(pieces)).toEqual(Buffer.from(Array.from({ length: bytes }, (_, at) => at % 251)));
    expect(pieces.length).toBeLessThan(bytes / AVERAGE_BYTES);
  });

  it('between frames of no bytes too', async () => {
    const sparse = Buffer.concat(Array.from({ length: 5_000 }, () => [data(''), data('x'), data('')]).flat());
    const tunnel = await answering(Buffer.concat([reply({}), sparse])).link.connectPort(SANDBOX, 80);
    let received = 0;
    let pieces = 0;
    tunnel.on('data', ({ length }: Buffer) => {
      received += length;
      pieces += 1;
    });
    while (received < 5_000) await nextTurn();
    tunnel.destroy();
    expect(pieces).toBeLessThan(5_000 / AVERAGE_BYTES);
  });
});

it('messages without end are taken a few at a time, and others’ answers come in between', async () => {
  const messages = Buffer.concat(Array(20_000).fill(item({ stream: 'stdout' })));
  const endless = (channel: Duplex) => {
    const more = () => {
      while (!channel.destroyed && channel.write(messages));
    };
    channel.once('data', () => {
      channel.write(reply({}));
      channel.on('drain', more);
      more();
    });
  };
  const agents = Array.from({ length: 8 }, () => fakeAgent(endless));
  const programs = await Promise.all(
    agents.map(({ link }) => link.openProcess(SANDBOX, { argv: ['x'], cwd: '.', env: {} })),
  );
  const { ms } = await longestTurn(async () => {
    for (let at = 0; at < 100; at++) await nextTurn();
  });
  const ended = Promise.all(programs.map(({ ended }) => ended));
  expect(await Promise.race([ended, nextTurn('they go on')])).toBe('they go on');
  for (const program of programs) program.close();
  // A turn's share is 4 ms and a slice; nothing holds the loop for 100 ms.
  expect(ms).toBeLessThan(100);
});

it('a listener takes connections at a bounded rate', async () => {
  let accepts = 0;
  const { link } = fakeAgent((channel) => {
    channel.once('data', (request: Buffer) => {
      if (!request.includes('"accept"')) {
        channel.write(reply({ listener: 1, port: 80 }));
        let named = 0;
        const timer = setInterval(() => {
          for (let at = 0; at < 30; at++) channel.write(item({ connection: named++ }));
        }, 10);
        channel.on('close', () => clearInterval(timer));
        return;
      }
      accepts++;
      channel.end(fault({ code: 'not_found', detail: 'gone' }));
    });
  });
  const listener = await link.listenPort(SANDBOX, { port: 0 }, () => {});
  const begun = performance.now();
  await Promise.race([listener.ended, new Promise((resolve) => setTimeout(resolve, 600))]);
  const seconds = (performance.now() - begun) / 1_000;
  listener.close();
  const [perSecond, burst] = [200, 128];
  expect(accepts).toBeGreaterThanOrEqual(burst);
  expect(accepts).toBeLessThanOrEqual(burst + perSecond * seconds + 1);
});

it('[WIRE-EXEC-13] a chart of 200,000 elements comes cut, with their number', async () => {
  const png = Buffer.from('89504e470d0a1a0a', 'hex');
  const chart = { type: 'line', title: null, x_label: null, y_label: null, x_scale: null, y_scale: null };
  const result = {
    ...{ exit_code: 0, timed_out: false, truncated: false, duration_ms: 1 },
    ...{ stdout_bytes: 0, stderr_bytes: 0, output_bytes: 0 },
  };
  const end = Buffer.from('0000000006', 'hex');
  const answer = [item({ ...chart, elements: Array(200_000).fill(1) }), data(png), reply(result), end];
  const { charts } = await answering(Buffer.concat(answer)).link.runCode(SANDBOX, {
    ...{ language: 'python', code: '', env: {}, timeoutMs: 1_000 },
  });
  expect(charts).toEqual([
    { ...chart, elements: Array(5_000).fill(1), total_elements: 200_000, png: png.toString('base64') },
  ]);
});

it('[WIRE-EXEC-13] a chart of 40,000 names is left out, and the call answers', async () => {
  const elements = Array.from({ length: 40_000 }, (_, at) => ({ [`k${at}`]: 0 }));
  const result = {
    ...{ exit_code: 0, timed_out: false, truncated: false, duration_ms: 1 },
    ...{ stdout_bytes: 0, stderr_bytes: 0, output_bytes: 0 },
  };
  const end = Buffer.from('0000000006', 'hex');
  const answer = Buffer.concat([item({ type: 'line', elements }), data('x'), reply(result), end]);
  const request = { language: 'python', code: '', env: {}, timeoutMs: 1_000 } as const;
  expect(await answering(answer).link.runCode(SANDBOX, request)).toMatchObject({ exitCode: 0, charts: [] });
});

it('a connection that nobody reads takes nothing in, and goes on where it was', async () => {
  const { link } = fakeAgent((channel) => {
    channel.once('data', () => {
      channel.write(reply({}));
      for (let at = 0; at < 64; at++) channel.write(data(Buffer.alloc(16_384, at)));
    });
  });
  const tunnel = await link.connectPort(SANDBOX, 80);
  let received = 0;
  tunnel.on('data', ({ length }: Buffer) => {
    received += length;
    tunnel.pause();
  });
  for (let round = 0; received < 64 * 16_384; round++) {
    const before = received;
    await new Promise((resolve) => setTimeout(resolve, 2));
    // No more than the slice that was being taken.
    expect(tunnel.readableLength).toBeLessThanOrEqual(64 * 1_024);
    tunnel.resume();
    await nextTurn();
    if (round > 500) expect(received).toBeGreaterThan(before);
  }
  tunnel.destroy();
  expect(received).toBe(64 * 16_384);
});

it('a value of a megabyte is no name', async () => {
  const long = { name: 'x'.repeat(mib), type: 'file', size: 1, link: false };
  const answer = Buffer.concat([item([long]), reply({ total_count: 1 })]);
  await expect(answering(answer).link.list(SANDBOX, asked)).rejects.toMatchObject({
    code: 'unavailable',
  });
});

it('the fullest page of a search is taken', async () => {
  const five = ['', '', '', '', ''];
  const matches = Array(50).fill({ line: 1, text: 'x', before: five, after: five });
  const file = { path: 'a', matches, match_count: 50, capped: true };
  const answer = [item(Array(200).fill(file)), reply({ total_count: 200, literal: false })];
  const query = { path: '.', query: 'x', contextLines: 5, maxItems: 200, offset: 0 };
  const found = await answering(Buffer.concat(answer)).link.searchContent(SANDBOX, query);
  expect(found.files).toHaveLength(200);
  expect(found.files[199]?.matches).toHaveLength(50);
});
