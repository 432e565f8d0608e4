/** What an agent may claim of a running program is bounded and checked, as everything that it says. */
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { AgentLink, RunningProcess } from '../../../src/control/ports/index.ts';
import { answering, data, end, fakeAgent, fault, item, reply, SANDBOX } from './fake-agent.ts';

const WINDOW_BYTES = 256 * 1024;
const HELLO_MS = 10_000;

afterEach(() => void vi.useRealTimers());

const open = (agent: AgentLink) => agent.openProcess(SANDBOX, { argv: ['true'], cwd: '.', env: {} });
const stdout = item({ stream: 'stdout' });
const exit = item({ exit_code: 0, signal: null });

describe('a breach before the program runs refuses it', () => {
  for (const [name, answer] of [
    ['an item', stdout],
    ['data', data('x')],
    ['an end', end()],
    ['a reply of another shape', reply(7)],
    ['an error of the service itself', fault({ code: 'unauthenticated', detail: 'x' })],
  ] as const) {
    it(name, async () => {
      const fake = answering(answer);
      await expect(open(fake.link)).rejects.toMatchObject({ code: 'unavailable' });
      expect(fake.closed()).toBe(true);
    });
  }
});

describe('a breach while the program runs ends it', () => {
  for (const [name, ...frames] of [
    ['data of no stream', data('x')],
    ['data after the exit', stdout, exit, data('x')],
    ['two exits', exit, exit],
    ['an end without an exit', end()],
    ['a stream that is none', item({ stream: 'constructor' })],
    ['an unknown item', item({ news: 1 })],
    ['an item that is no object', item(null)],
    ['an exit code that is none', item({ exit_code: 256, signal: null })],
    ['a signal that is none', item({ exit_code: 137, signal: 'x'.repeat(1_000) })],
    ['more taken than was sent', item({ taken: 1 })],
    ['nothing taken', item({ taken: 0 })],
    ['a second reply', reply({})],
    ['a frame that is none', Buffer.from('0000000009', 'hex')],
  ] as [string, ...Buffer[]][]) {
    it(name, async () => {
      const fake = answering(Buffer.concat([reply({}), ...frames]));
      const program = await open(fake.link);
      await expect(program.ended).rejects.toMatchObject({ code: 'unavailable' });
      expect(fake.closed()).toBe(true);
      expect([program.stdin, program.stdout, program.stderr].every(({ destroyed }) => destroyed)).toBe(true);
    });
  }

  it('an error, which may come at any time', async () => {
    const error = fault({ code: 'resource_exhausted', detail: 'no memory' });
    const program = await open(answering(Buffer.concat([reply({}), error])).link);
    await expect(program.ended).rejects.toMatchObject({ code: 'resource_exhausted' });
  });

  it('its agent going away', async () => {
    const fake = answering(Buffer.concat([reply({}), stdout, data('half')]), 'close');
    const program = await open(fake.link);
    await expect(program.ended).rejects.toMatchObject({ code: 'unavailable' });
    await expect(text(program.stdout)).rejects.toThrow();
  });
});

describe('nothing piles up in the service', () => {
  it('of output that nobody reads', async () => {
    let written = 0;
    const fake = fakeAgent((channel) => {
      const flood = () => {
        while (!channel.destroyed && channel.write(data(Buffer.alloc(64 << 10)))) written += 64 << 10;
      };
      channel.once('data', () => {
        channel.write(Buffer.concat([reply({}), stdout]));
        channel.on('drain', flood);
        flood();
      });
    });
    const program = await open(fake.link);
    await sleep(100);
    expect(written).toBeLessThan(4 << 20);
    expect(program.stdout.readableLength).toBeLessThan(1 << 20);
    program.close();
  });

  it('of input that the agent does not acknowledge', async () => {
    const fake = answering(reply({}));
    const program = await open(fake.link);
    let done = 0;
    for (let index = 0; index < 64; index++) program.stdin.write(Buffer.alloc(32 << 10), () => done++);
    await sleep(50);
    expect(fake.received().length).toBeGreaterThan(WINDOW_BYTES - 32_768);
    expect(fake.received().length).toBeLessThan(WINDOW_BYTES + 4_096);
    expect(done).toBeLessThan(64);
    expect(program.stdin.writableNeedDrain).toBe(true);
    program.close();
  });

  it('of messages that the agent does not take', async () => {
    const fake = fakeAgent((channel) => {
      channel.write(reply({}));
      channel.pause();
    });
    const program = await open(fake.link);
    for (let index = 0; index < 100_000; index++) program.resize({ columns: 80, rows: index });
    await expect(program.ended).rejects.toMatchObject({ code: 'unavailable' });
    program.signal('TERM');
    expect(fake.closed()).toBe(true);
  });
});

describe('time', () => {
  it('is bounded for the start alone', async () => {
    vi.useFakeTimers();
    const silent = fakeAgent(() => {});
    const outcome = expect(open(silent.link)).rejects.toMatchObject({ code: 'unavailable' });
    await vi.advanceTimersByTimeAsync(HELLO_MS + 1);
    await outcome;
    expect(silent.closed()).toBe(true);

    const idle = answering(reply({}));
    await open(idle.link);
    await vi.advanceTimersByTimeAsync(24 * 60 * 60 * 1000);
    expect(idle.closed()).toBe(false);
  });
});

describe('the streams of a program that has ended', () => {
  const ended = async (): Promise<RunningProcess> =>
    open(answering(Buffer.concat([reply({}), stdout, data('out'), exit, end()])).link);

  it('bring what has come, and let input go', async () => {
    const program = await ended();
    expect(await program.ended).toEqual({ exitCode: 0, signal: null });
    program.stdin.write('late');
    await new Promise<void>((resolve) => program.stdin.end('later', resolve));
    program.resize({ columns: 1, rows: 1 });
    program.signal('TERM');
    program.close();
    expect(String(await buffer(program.stdout))).toBe('out');
  });
});
