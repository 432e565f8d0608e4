/** What an agent that is none may do to connections of the loopback: end them. */
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Listener } from '../../src/control/ports/index.ts';
import { answering, data, end, fakeAgent, fault, item, reply, SANDBOX } from './wire/fake-agent.ts';

const OPEN_MS = 15_000;
const CONNECTIONS_TAKEN = 64;

afterEach(() => void vi.useRealTimers());

const listening = reply({ listener: 1, port: 80 });

describe('a connection is not opened by an agent that', () => {
  const cases: [string, Buffer][] = [
    ['sends data first', data('x')],
    ['sends an end first', end()],
    ['sends an item', item({})],
    ['sends what is no JSON', Buffer.from('0100000002ff', 'hex')],
    ['sends an error of the service itself', fault({ code: 'unauthenticated', detail: 'x' })],
    ['sends a frame that is too large', Buffer.from('0100004002', 'hex')],
  ];
  for (const [name, answer] of cases) {
    it(name, async () => {
      const fake = answering(answer);
      await expect(fake.link.connectPort(SANDBOX, 80)).rejects.toMatchObject({ code: 'unavailable' });
      expect(fake.closed()).toBe(true);
    });
  }

  it('is silent', async () => {
    vi.useFakeTimers();
    const fake = fakeAgent(() => {});
    const outcome = expect(fake.link.connectPort(SANDBOX, 80)).rejects.toMatchObject({ code: 'unavailable' });
    await vi.advanceTimersByTimeAsync(OPEN_MS - 1);
    expect(fake.closed()).toBe(false);
    await vi.advanceTimersByTimeAsync(2);
    await outcome;
    expect(fake.closed()).toBe(true);
  });

  it('closes', async () => {
    const fake = answering(Buffer.alloc(0), 'close');
    await expect(fake.link.connectPort(SANDBOX, 80)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('an open connection breaks with an agent that', () => {
  const cases: [string, Buffer, 'wait' | 'close'][] = [
    ['replies twice', reply({}), 'wait'],
    ['sends an item', item({}), 'wait'],
    ['sends data after the end', Buffer.concat([end(), data('x')]), 'wait'],
    ['ends twice', Buffer.concat([end(), end()]), 'wait'],
    ['closes without an end', Buffer.alloc(0), 'close'],
    ['closes after one end of two', end(), 'close'],
  ];
  for (const [name, more, then] of cases) {
    it(name, async () => {
      const fake = answering(Buffer.concat([reply({}), more]), then);
      const failed = fake.link
        .connectPort(SANDBOX, 80)
        .then((stream) => once(stream.resume(), 'error'))
        .then(
          ([error]) => error,
          (error: unknown) => error,
        );
      expect(await failed).toMatchObject({ code: 'unavailable' });
      expect(fake.closed()).toBe(true);
    });
  }

  it('is idle, not at all', async () => {
    vi.useFakeTimers();
    const stream = await answering(reply({})).link.connectPort(SANDBOX, 80);
    await vi.advanceTimersByTimeAsync(24 * 60 * 60 * 1_000);
    expect(stream.destroyed).toBe(false);
    stream.destroy();
  });
});

describe('a listener', () => {
  const listen = (answer: Buffer, onConnection: (stream: Duplex) => void = () => {}): Promise<Listener> =>
    answering(answer).link.listenPort(SANDBOX, { port: 0 }, onConnection);

  it.each([
    ['a port that is none', reply({ listener: 1, port: 0 })],
    ['no number', reply({ port: 80 })],
    ['an item first', item({ connection: 1 })],
    ['data', data('x')],
  ])('is not opened by %s', async (_name, answer) => {
    await expect(listen(answer)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it.each([
    ['a second reply', listening],
    ['data', data('x')],
    ['a connection that is none', item({ connection: -1 })],
    ['an error', fault({ code: 'internal', detail: 'x' })],
    ['more connections than may wait', Buffer.concat(Array(129).fill(item({ connection: 1 })))],
  ])('ends with %s', async (_name, more) => {
    // On one channel alone: what it names is never there to be taken.
    let channels = 0;
    const { link } = fakeAgent((channel) => {
      channels += 1;
      if (channels > 1) return;
      channel.once('data', () => channel.write(Buffer.concat([listening, more])));
    });
    const listener = await link.listenPort(SANDBOX, { port: 0 }, () => {});
    await listener.ended;
    expect(channels).toBeLessThanOrEqual(CONNECTIONS_TAKEN + 1);
  });

  it('takes 64 connections at once, while 64 more wait', async () => {
    let channels = 0;
    const named = Array.from({ length: 2 * CONNECTIONS_TAKEN }, (_, connection) => item({ connection }));
    const { link } = fakeAgent((channel) => {
      channels += 1;
      if (channels > 1) return;
      channel.once('data', () => channel.write(Buffer.concat([listening, ...named])));
    });
    const ended = vi.fn();
    const listener = await link.listenPort(SANDBOX, { port: 0 }, () => {});
    void listener.ended.then(ended);
    await vi.waitUntil(() => channels > CONNECTIONS_TAKEN);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(channels).toBe(CONNECTIONS_TAKEN + 1);
    expect(ended).not.toHaveBeenCalled();
    listener.close();
  });
});

it.each([
  ['a port that is none', { ports: [{ port: 65_536, name: '' }] }],
  ['a name without end', { ports: [{ port: 1, name: 'x'.repeat(65) }] }],
  ['too many', { ports: Array(65_536).fill({ port: 1, name: '' }) }],
  ['no list', {}],
])('%s among the ports is unavailable', async (_name, answer) => {
  await expect(answering(reply(answer)).link.ports(SANDBOX)).rejects.toMatchObject({ code: 'unavailable' });
});
