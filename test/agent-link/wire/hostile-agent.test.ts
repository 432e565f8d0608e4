/** Root in a sandbox can stand in for its agent: whatever it says, the service bounds, checks and times it. */
import { buffer } from 'node:stream/consumers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { AgentLink } from '../../../src/control/ports/index.ts';
import { answering, data, end, fakeAgent, fault, item, reply, SANDBOX } from './fake-agent.ts';

const OUTPUT_BYTES = 1024 * 1024;
const CONTENT_BYTES = 16 * 1024 * 1024;
const HELLO_MS = 10_000;
const EXEC_OVERRUN_MS = 10_000;
const FILE_OPERATION_MS = 300_000;
const STREAM_IDLE_MS = 60_000;
const CHART_DATA_BYTES = 512 * 1024;

afterEach(() => void vi.useRealTimers());

const exec = (agent: AgentLink) =>
  agent.exec(SANDBOX, { argv: ['true'], cwd: '.', env: {}, timeoutMs: 1_000 });
const list = (agent: AgentLink) => agent.list(SANDBOX, { path: '.', maxItems: 1, offset: 0 });
const read = (agent: AgentLink) => agent.read(SANDBOX, { path: 'a' });
const runCode = (agent: AgentLink) =>
  agent.runCode(SANDBOX, { language: 'python', code: '', env: {}, timeoutMs: 1_000 });
const write = (agent: AgentLink) =>
  agent.write(SANDBOX, { path: 'a', createParents: true, content: Buffer.from('x') });
const streamed = async (agent: AgentLink) => buffer((await agent.readStream(SANDBOX, { path: 'a' })).stream);

const sessions = (agent: AgentLink) => agent.listSessions(SANDBOX);
const logs = (agent: AgentLink) => agent.sessionCommandLogs(SANDBOX, 's', 'c');

const exit = { exit_code: 0, timed_out: false, truncated: false, duration_ms: 1 };
const lengths = (stdout: number) => ({ stdout_bytes: stdout, stderr_bytes: 0, output_bytes: 0 });
const readHead = { size: 3, total_lines: 1, start_line: 1, end_line: 1 };
const entry = { name: 'a', type: 'file', size: 1, link: false };
const chart = { type: 'line', title: null, x_label: null, y_label: null, x_scale: null, y_scale: null };
const session = { session_id: 's', created_ms: 1, recent_commands: [] };
const ran = { command_id: 'c', command: 'true', state: 'completed', exit_code: 0 };
const listed = (json: unknown) => Buffer.concat([item(json), reply({ busy: false, idle_ms: null })]);
const png = Buffer.from('89504e470d0a1a0a', 'hex');

describe('an agent that breaks the protocol gives unavailable', () => {
  const breaches: [string, Buffer, (agent: AgentLink) => Promise<unknown>][] = [
    ['more sessions than there may be', Buffer.concat(Array(40).fill(item(session))), sessions],
    ['a session id that is none', listed({ ...session, session_id: '../x' }), sessions],
    [
      'a command of a megabyte',
      listed({ ...session, recent_commands: [{ ...ran, command: 'x'.repeat(1e6) }] }),
      sessions,
    ],
    ['a time past all time', listed({ ...session, created_ms: 1e300 }), sessions],
    [
      'an exit code of what still runs',
      Buffer.concat([reply({ state: 'running', exit_code: 0, truncated: false, ...lengths(0) }), end()]),
      logs,
    ],
    [
      'a status of its own',
      reply({ state: 'closed', exit_code: null, truncated: false, ...lengths(0) }),
      logs,
    ],
    ['no JSON', Buffer.from('0100000002ff', 'hex'), exec],
    ['an unknown frame', Buffer.from('0000000009', 'hex'), exec],
    ['a request', Buffer.from('02000000017b7d', 'hex'), exec],
    ['a reply of another shape', reply([]), exec],
    [
      'an exit code that is none',
      Buffer.concat([reply({ ...exit, ...lengths(0), exit_code: 1e9 }), end()]),
      exec,
    ],
    // With 256 more for the marker of what is left out.
    [
      'output over the bound',
      Buffer.concat([
        reply({ ...exit, ...lengths(OUTPUT_BYTES + 257) }),
        ...[data(Buffer.alloc(OUTPUT_BYTES)), data(Buffer.alloc(257)), end()],
      ]),
      exec,
    ],
    [
      'less output than announced',
      Buffer.concat([reply({ ...exit, ...lengths(3) }), data('ab'), end()]),
      exec,
    ],
    [
      'more output than announced',
      Buffer.concat([reply({ ...exit, ...lengths(1) }), data('ab'), end()]),
      exec,
    ],
    ['data before a reply', data('ab'), exec],
    ['an end before a reply', end(), exec],
    ['two replies', Buffer.concat([reply({ ...exit, ...lengths(0) }), reply({})]), exec],
    ['more items than asked for', Buffer.concat([item([entry, entry]), reply({ total_count: 2 })]), list],
    ['more item frames than asked for', Buffer.concat([item([]), item([])]), list],
    ['an item where none belongs', item({}), read],
    ['a negative count', reply({ total_count: -1 }), list],
    [
      'a name that is no text',
      Buffer.concat([item([{ ...entry, name: 7 }]), reply({ total_count: 1 })]),
      list,
    ],
    [
      'a name of a megabyte',
      Buffer.concat([item([{ ...entry, name: 'x'.repeat(1e6) }]), reply({ total_count: 1 })]),
      list,
    ],
    ['content over the bound', reply({ ...readHead, bytes: CONTENT_BYTES + 1 }), read],
    ['a stream longer than announced', Buffer.concat([reply({ size: 3, bytes: 3 }), data('abcd')]), streamed],
    [
      'a stream shorter than announced',
      Buffer.concat([reply({ size: 3, bytes: 3 }), data('ab'), end()]),
      streamed,
    ],
    ['more of a file than there is', reply({ size: 3, bytes: 4 }), streamed],
    ['an error code of the service itself', fault({ code: 'unauthenticated', detail: 'x' }), exec],
    ['an error without a code', fault({ detail: 'x' }), exec],
    [
      'data without an end in memory',
      Buffer.concat([reply({ ...readHead, bytes: 3 }), ...Array(20).fill(data(Buffer.alloc(1 << 20)))]),
      read,
    ],
    [
      'another sandbox',
      reply({ version: 1, sandbox_id: 'sb_zzzzzzzzzzzzzzzz', generation: 1 }),
      (agent) => agent.hello(SANDBOX, 1),
    ],
    [
      'another generation',
      reply({ version: 1, sandbox_id: SANDBOX, generation: 2 }),
      (agent) => agent.hello(SANDBOX, 1),
    ],
    [
      'a version not offered',
      reply({ version: 10, sandbox_id: SANDBOX, generation: 1 }),
      (agent) => agent.hello(SANDBOX, 1),
    ],
  ];
  for (const [name, answer, call] of breaches) {
    it(name, async () => {
      const fake = answering(answer);
      // Else the end of its time would do.
      const noticed = { code: 'unavailable', message: expect.not.stringContaining('does not answer') };
      await expect(call(fake.link)).rejects.toMatchObject(noticed);
      expect(fake.closed()).toBe(true);
    });
  }

  it('closing without an answer', async () => {
    await expect(exec(answering(Buffer.alloc(0), 'close').link)).rejects.toMatchObject({
      code: 'unavailable',
    });
  });

  it('closing in the middle of a stream', async () => {
    const answer = Buffer.concat([reply({ size: 3, bytes: 3 }), data('a')]);
    await expect(streamed(answering(answer, 'close').link)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('an agent that is silent is given up', () => {
  const silent = () => fakeAgent(() => {});
  const cases: [string, (agent: AgentLink) => Promise<unknown>, number, string][] = [
    ['hello', (agent) => agent.hello(SANDBOX, 1), HELLO_MS, 'unavailable'],
    ['a command', exec, 1_000 + EXEC_OVERRUN_MS, 'unavailable'],
    ['code', runCode, 1_000 + EXEC_OVERRUN_MS, 'unavailable'],
    ['a walk of files', list, FILE_OPERATION_MS, 'timeout'],
    ['a write', write, FILE_OPERATION_MS, 'timeout'],
    ['a stream', streamed, STREAM_IDLE_MS, 'unavailable'],
  ];
  for (const [name, call, afterMs, code] of cases) {
    it(name, async () => {
      vi.useFakeTimers();
      const fake = silent();
      const outcome = expect(call(fake.link)).rejects.toMatchObject({ code });
      await vi.advanceTimersByTimeAsync(afterMs - 1);
      expect(fake.closed()).toBe(false);
      await vi.advanceTimersByTimeAsync(2);
      await outcome;
      expect(fake.closed()).toBe(true);
    });
  }
});

describe('an agent’s description of a chart', () => {
  const result = Buffer.concat([reply({ ...exit, ...lengths(0) }), end()]);
  const cases: [string, unknown, Buffer][] = [
    ['another shape', { type: 'line' }, png],
    ['no picture', { ...chart, elements: [] }, Buffer.from('<svg>')],
    ['a nest of arrays', { ...chart, elements: [JSON.parse('['.repeat(50) + ']'.repeat(50))] }, png],
    ['too much', { ...chart, elements: ['x'.repeat(CHART_DATA_BYTES)] }, png],
  ];
  for (const [name, json, picture] of cases) {
    it(`[WIRE-EXEC-13] is left out when it is ${name}`, async () => {
      const good = [item({ ...chart, elements: [] }), data(png)];
      const { link } = answering(Buffer.concat([item(json), data(picture), ...good, result]));
      const { charts } = await runCode(link);
      expect(charts).toEqual([{ ...chart, elements: [], png: png.toString('base64') }]);
    });
  }
});

it('an error text is one line of bounded length', async () => {
  const detail = `a\nb\u001b[31m${'x'.repeat(10_000)}`;
  const { link } = answering(fault({ code: 'not_found', detail }));
  const error = await exec(link).catch((caught: Error) => caught);
  expect((error as Error).message.length).toBeLessThan(2_100);
  expect((error as Error).message).not.toMatch(/\p{Cc}/u);
});

it('a call that is cancelled closes its channel, before and after it is open', async () => {
  const fake = fakeAgent(() => {});
  const reason = new Error('gone');
  await expect(exec2(fake.link, AbortSignal.abort(reason))).rejects.toBe(reason);
  const controller = new AbortController();
  const outcome = expect(exec2(fake.link, controller.signal)).rejects.toBe(reason);
  setTimeout(() => controller.abort(reason), 10);
  await outcome;
  expect(fake.closed()).toBe(true);
});

function exec2(agent: AgentLink, signal: AbortSignal): Promise<unknown> {
  return agent.exec(SANDBOX, { argv: ['true'], cwd: '.', env: {}, timeoutMs: 1_000 }, signal);
}
