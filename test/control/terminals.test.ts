/** Looking at terminals: the shell of a new one, its environment, and what a look counts for. */
import { duplexPair } from 'node:stream';
import { beforeEach, expect, it } from 'vitest';
import type {
  AgentTerminals,
  SandboxStore,
  TerminalRequest,
  TerminalView,
} from '../../src/control/ports/index.ts';
import { TerminalService } from '../../src/control/work/terminals.ts';
import { SandhavenError } from '../../src/model/errors.ts';
import type { Sandbox } from '../../src/model/sandbox.ts';
import type { User } from '../../src/model/user.ts';

const caller = { id: 'user_1' } as User;
const sandbox = { id: 'sb_0123456789abcdef', name: 'box', ownerId: 'user_1', user: null } as Sandbox;
const never = new AbortController().signal;

let asked: TerminalRequest[];
let missing: string[];
let detached: number;
let connected: number;
let defaultUser: string | null;
let service: TerminalService;

beforeEach(() => {
  asked = [];
  missing = [];
  detached = 0;
  connected = 0;
  defaultUser = null;
  const view = { input: duplexPair()[0], detach: () => void detached++ } as unknown as TerminalView;
  const agent = {
    async openTerminal(_id: string, request: TerminalRequest) {
      asked.push(request);
      const shell = request.create?.argv[0] ?? '';
      if (!missing.includes(shell)) return view;
      throw new SandhavenError('failed_precondition', `no ${shell}`, { resource: 'interpreter' });
    },
  } as unknown as AgentTerminals;
  service = new TerminalService({
    store: { find: async () => sandbox, get: async () => sandbox } as unknown as SandboxStore,
    uses: {
      connected: async (_id: string, work: (found: Sandbox) => Promise<void>) => {
        connected += 1;
        await work({ ...sandbox, user: defaultUser }).finally(() => {
          connected -= 1;
        });
      },
    } as never,
    agent,
    environments: { of: async () => ({ PATH: '/bin', TERM: 'dumb', USER: 'eve' }) },
  });
});

const look = (create: boolean, work = async () => {}) =>
  service.look(caller, 'box', { terminalId: 'main', size: null, create }, work, never);

it('a new terminal has a login shell, the environment of commands, and a TERM of its own', async () => {
  await look(true);
  expect(asked).toEqual([
    {
      ...{ terminalId: 'main', size: null },
      create: {
        ...{ argv: ['bash', '-l'], cwd: '.' },
        env: { LOGNAME: 'root', SHELL: '/bin/bash', PATH: '/bin', USER: 'eve', TERM: 'xterm-256color' },
      },
    },
  ]);
});

it('a new terminal has more environment of its first viewer, which wins', async () => {
  const request = {
    terminalId: 'main',
    size: null,
    create: true,
    env: { USER: 'ann', TERM: 'vt100', A: 'b' },
  };
  await service.look(caller, 'box', request, async () => {}, never);
  const env = { LOGNAME: 'root', SHELL: '/bin/bash', PATH: '/bin', USER: 'ann', TERM: 'vt100', A: 'b' };
  expect(asked.at(-1)?.create).toEqual({ argv: ['bash', '-l'], cwd: '.', env });
});

it('an image without bash gets sh, one without either an error with what to do', async () => {
  missing = ['bash'];
  await look(true);
  expect(asked.at(-1)?.create).toMatchObject({ argv: ['sh', '-l'], env: { SHELL: '/bin/sh' } });
  missing = ['bash', 'sh'];
  await expect(look(true)).rejects.toMatchObject({
    code: 'failed_precondition',
    fields: { hint: expect.any(String) },
  });
});

it('a new terminal of a user has the user of the look, else of the sandbox, and an account that the agent adds', async () => {
  defaultUser = 'ann';
  await look(true);
  const request = { terminalId: 'main', size: null, create: true, user: 'bob' };
  await service.look(caller, 'box', request, async () => {}, never);
  const create = {
    argv: ['bash', '-l'],
    cwd: '.',
    env: { PATH: '/bin', USER: 'eve', TERM: 'xterm-256color' },
  };
  expect(asked).toEqual([
    { user: 'ann', terminalId: 'main', size: null, create },
    { user: 'bob', terminalId: 'main', size: null, create },
  ]);
});

it('a look without create names no program and no user', async () => {
  defaultUser = 'ann';
  await look(false);
  expect(asked).toEqual([{ terminalId: 'main', size: null, create: null }]);
});

it('a look is a use while it lasts, and leaves whatever ends it', async () => {
  await look(true, async () => {
    expect(connected).toBe(1);
  });
  expect([connected, detached]).toEqual([0, 1]);
  await expect(look(true, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect([connected, detached]).toEqual([0, 2]);
});
