/** Processes that outlive their caller: the shell of a new one, its environment, and the calls that are uses. */
import { beforeEach, expect, it } from 'vitest';
import type { AgentDetached, DetachedRequest } from '../../src/control/ports/index.ts';
import { ProcessService } from '../../src/control/work/processes.ts';
import { SandhavenError } from '../../src/model/errors.ts';
import type { Sandbox } from '../../src/model/sandbox.ts';
import type { User } from '../../src/model/user.ts';

const caller = { id: 'user_1' } as User;
const sandbox = { id: 'sb_0123456789abcdef', name: 'box', ownerId: 'user_1', user: null } as Sandbox;

let started: DetachedRequest[];
let missing: string[];
let calls: unknown[][];
let defaultUser: string | null;
let service: ProcessService;

beforeEach(() => {
  started = [];
  missing = [];
  calls = [];
  defaultUser = null;
  const note =
    (name: string) =>
    async (...args: unknown[]) =>
      void calls.push([name, ...args]);
  const agent = {
    async startDetached(_id: string, request: DetachedRequest) {
      started.push(request);
      const shell = request.argv[0] ?? '';
      if (!missing.includes(shell)) return { pid: 7, startedAtMs: 5 };
      throw new SandhavenError('failed_precondition', `no ${shell}`, { resource: 'interpreter' });
    },
    listDetached: async () => ({ processes: [{ pid: 7 }], busy: true, idleMs: null }),
    viewDetached: note('view'),
    writeDetached: note('write'),
    signalDetached: note('signal'),
    resizeDetached: note('resize'),
    endDetached: note('end'),
  } as unknown as AgentDetached;
  const used = (kind: string) => async (_of: unknown, reference: unknown, work?: unknown) => {
    const act = (work ?? reference) as (found: Sandbox) => Promise<unknown>;
    calls.push([kind]);
    return act({ ...sandbox, user: defaultUser });
  };
  service = new ProcessService({
    uses: { run: used('run'), connected: used('connected'), find: async () => sandbox } as never,
    agent,
    environments: {
      of: async (_sandbox, { user } = {}) => ({
        PATH: '/bin',
        TERM: 'dumb',
        ...(user ? {} : { HOME: '/root' }),
      }),
    },
  });
});

const start = (more: object = {}) =>
  service.start(caller, 'box', { command: 'make', env: { A: '1' }, timeoutMs: 1_000, ...more });

it('runs a command by bash, with the environment of commands and more of its own', async () => {
  expect(await start({ tag: 'web' })).toEqual({
    ...{ pid: 7, startedAtMs: 5, tag: 'web', label: 'make', terminal: null },
    ...{ viewers: 0, outputBytes: 0, end: null },
  });
  expect(started).toEqual([
    {
      ...{ argv: ['bash', '-c', 'make'], cwd: '.', tag: 'web', label: 'make', timeoutMs: 1_000 },
      env: { PATH: '/bin', TERM: 'dumb', HOME: '/root', A: '1' },
    },
  ]);
});

it('gives a terminal a TERM of its own, which the caller may change', async () => {
  const terminal = { columns: 80, rows: 24 };
  expect(await start({ terminal })).toMatchObject({ terminal });
  await start({ terminal, env: { TERM: 'vt100' } });
  expect(started.map(({ env, terminal: size }) => [env['TERM'], size])).toEqual([
    ['xterm-256color', terminal],
    ['vt100', terminal],
  ]);
});

it('takes sh in an image without bash, and says what to do without either', async () => {
  missing = ['bash'];
  await start();
  expect(started.at(-1)?.argv).toEqual(['sh', '-c', 'make']);
  missing = ['bash', 'sh'];
  await expect(start()).rejects.toMatchObject({
    code: 'failed_precondition',
    fields: { hint: expect.any(String) },
  });
});

it('has the user of the call, else of the sandbox', async () => {
  defaultUser = 'ann';
  await start();
  await start({ user: 'bob' });
  expect(started.map(({ user }) => user)).toEqual(['ann', 'bob']);
});

it('shows the beginning of a long command in lists, without half a character', async () => {
  const command = `${'x'.repeat(199)}😀 and more`;
  const { label } = await start({ command });
  expect(label).toBe(`${'x'.repeat(199)}\ufffd`);
  expect(started[0]?.argv[2]).toBe(command);
});

it('a view is a connection to the sandbox, all else a use', async () => {
  const sink = { begun() {}, show: () => undefined };
  const { signal } = new AbortController();
  expect(await service.list(caller, 'box')).toEqual([{ pid: 7 }]);
  await service.view(caller, 'box', { process: 'web', from: 3 }, sink, signal);
  await service.write(caller, 'box', { process: 'web', bytes: Buffer.from('x'), close: true }, signal);
  await service.signal(caller, 'box', 'web', 'TERM');
  await service.resize(caller, 'box', 'web', { columns: 1, rows: 2 });
  await service.end(caller, 'box', 'web', signal);
  expect(calls).toEqual([
    ['run'],
    ['connected'],
    ['view', sandbox.id, { process: 'web', from: 3 }, sink, signal],
    ['run'],
    ['write', sandbox.id, 'web', Buffer.from('x'), { close: true }, signal],
    ['run'],
    ['signal', sandbox.id, 'web', 'TERM'],
    ['run'],
    ['resize', sandbox.id, 'web', { columns: 1, rows: 2 }],
    ['run'],
    ['end', sandbox.id, 'web', signal],
  ]);
});
