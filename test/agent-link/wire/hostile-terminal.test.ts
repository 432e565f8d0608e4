/** What an agent may claim of a terminal is bounded and checked, as everything that it says. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { AgentLink, TerminalSink, TerminalView } from '../../../src/control/ports/index.ts';
import { answering, data, end, fakeAgent, fault, item, reply, SANDBOX } from './fake-agent.ts';

afterEach(() => void vi.useRealTimers());

const open = (agent: AgentLink) =>
  agent.openTerminal(SANDBOX, { terminalId: 'main', size: null, create: null });
const opened = reply({
  ...{ created: false, created_ms: 1, size: { columns: 80, rows: 24 }, scrollback_bytes: 0 },
});
const exit = item({ exit_code: 0, signal: null });
const takesAll: TerminalSink = { data: () => true, skipped: () => true, resized: () => true };

async function shown(agent: AgentLink, sink: TerminalSink = takesAll): Promise<TerminalView> {
  const view = await open(agent);
  view.show(sink);
  return view;
}

describe('a breach of the protocol ends it', () => {
  for (const [name, ...frames] of [
    ['data after the exit', exit, data('x')],
    ['two exits', exit, exit],
    ['an end without an exit', end()],
    ['an unknown item', item({ news: 1 })],
    ['an item that is no object', item(null)],
    ['an exit code that is none', item({ exit_code: 256, signal: null })],
    ['a signal that is none', item({ exit_code: 137, signal: 'x'.repeat(1_000) })],
    ['a size that is none', item({ size: { columns: 80, rows: 1e9 } })],
    ['nothing skipped', item({ skipped: 0 })],
    ['more skipped than can be counted', item({ skipped: 1e300 })],
    ['more taken than was sent', item({ taken: 1 })],
    ['a second reply', opened],
    ['a frame that is none', Buffer.from('0000000009', 'hex')],
  ] as [string, ...Buffer[]][]) {
    it(name, async () => {
      const fake = answering(Buffer.concat([opened, ...frames]));
      const view = await shown(fake.link);
      await expect(view.ended).rejects.toMatchObject({ code: 'unavailable' });
      expect(fake.closed()).toBe(true);
      expect(view.input.destroyed).toBe(true);
    });
  }

  for (const [name, first] of [
    ['data before the reply', data('x')],
    ['an item before the reply', item({ skipped: 1 })],
    ['a reply without its fields', reply({})],
    [
      'a size in the reply that is none',
      reply({ created: true, created_ms: 1, size: 1, scrollback_bytes: 0 }),
    ],
    ['an end in place of the reply', end()],
  ] as [string, Buffer][]) {
    it(name, async () => {
      const fake = answering(first);
      await expect(open(fake.link)).rejects.toMatchObject({ code: 'unavailable' });
      expect(fake.closed()).toBe(true);
    });
  }

  it('an error, which may come at any time', async () => {
    const error = fault({ code: 'resource_exhausted', detail: 'no memory' });
    const view = await shown(answering(Buffer.concat([opened, error])).link);
    await expect(view.ended).rejects.toMatchObject({ code: 'resource_exhausted' });
  });

  it('its agent going away', async () => {
    const view = await shown(answering(Buffer.concat([opened, data('half')]), 'close').link);
    await expect(view.ended).rejects.toMatchObject({ code: 'unavailable' });
  });

  it.each([
    ['an id that is none', { terminal_id: '../x' }],
    ['a name that is no name', { program: 'x'.repeat(1_000) }],
    ['more viewers than there can be', { viewers: 1e9 }],
  ])('in a list: %s', async (_name, wrong) => {
    const size = { columns: 80, rows: 24 };
    const usual = { terminal_id: 'a', created_ms: 1, size, viewers: 0, program: 'sh', busy: false };
    const rest = reply({ busy: false, idle_ms: null });
    const fake = answering(Buffer.concat([item({ ...usual, ...wrong }), rest]));
    await expect(fake.link.listTerminals(SANDBOX)).rejects.toMatchObject({ code: 'unavailable' });
    const flood = answering(Buffer.concat([...Array.from({ length: 33 }, () => item(usual)), rest]));
    await expect(flood.link.listTerminals(SANDBOX)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('nothing piles up in the service', () => {
  for (const [name, piece] of [
    ['of output that nobody takes', data(Buffer.alloc(64 << 10))],
    ['of notes that nobody takes', Buffer.concat(Array.from({ length: 2_000 }, () => item({ skipped: 1 })))],
  ] as const) {
    it(name, async () => {
      let written = 0;
      const fake = fakeAgent((channel) => {
        const flood = () => {
          while (!channel.destroyed && channel.write(piece)) written += piece.length;
        };
        channel.once('data', () => {
          channel.write(opened);
          channel.on('drain', flood);
          flood();
        });
      });
      const view = await shown(fake.link, { data: () => false, skipped: () => false, resized: () => false });
      await sleep(100);
      expect(written).toBeLessThan(4 << 20);
      view.detach();
    });
  }

  it('before anybody looks', async () => {
    const early = Array.from({ length: 100 }, (_, at) => data(`${at} `));
    const view = await open(answering(Buffer.concat([opened, ...early, exit, end()])).link);
    await sleep(20);
    const pieces: Buffer[] = [];
    view.show({ ...takesAll, data: (bytes) => pieces.push(bytes) > 0 });
    expect(await view.ended).toEqual({ exitCode: 0, signal: null });
    expect(Buffer.concat(pieces).toString()).toMatch(/^0 1 2 .* 98 99 $/);
  });
});

describe('an agent of an earlier version', () => {
  const refusal = fault({
    code: 'invalid_argument',
    detail:
      'The request breaks the agent protocol: unknown variant `terminal_open`, expected one of `hello`.',
  });
  it('has no terminals, and says what to do', async () => {
    const expected = {
      code: 'failed_precondition',
      fields: { resource: 'agent', hint: 'Stop and start the sandbox; what runs in it ends then.' },
    };
    const { link } = answering(refusal);
    await expect(open(link)).rejects.toMatchObject(expected);
    await expect(link.listTerminals(SANDBOX)).rejects.toMatchObject(expected);
    await expect(link.endTerminal(SANDBOX, 'main')).rejects.toMatchObject(expected);
  });
});

describe('time', () => {
  it('is bounded for the start alone', async () => {
    vi.useFakeTimers();
    const silent = fakeAgent(() => {});
    const outcome = expect(open(silent.link)).rejects.toMatchObject({ code: 'unavailable' });
    await vi.advanceTimersByTimeAsync(20_001);
    await outcome;
    expect(silent.closed()).toBe(true);
    const idle = answering(opened);
    const view = await shown(idle.link);
    await vi.advanceTimersByTimeAsync(24 * 60 * 60 * 1000);
    expect(idle.closed()).toBe(false);
    view.detach();
    expect(idle.closed()).toBe(true);
  });
});
