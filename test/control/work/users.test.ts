/** Calls as a Linux user: the call's own, else the sandbox's, else root, with the environment that goes with it. */
import { Readable } from 'node:stream';
import { beforeEach, expect, it } from 'vitest';
import { GitService, type GitServiceDependencies } from '../../../src/control/git/git-service.ts';
import type { AgentLink, SessionStore } from '../../../src/control/ports/index.ts';
import { Environments } from '../../../src/control/reach/environment.ts';
import { ExecutionService } from '../../../src/control/work/execution.ts';
import { filesOf } from '../../../src/control/work/files.ts';
import type { SandboxUses } from '../../../src/control/work/sandbox-uses.ts';
import { SessionService } from '../../../src/control/work/sessions.ts';
import type { Sandbox } from '../../../src/model/sandbox.ts';
import type { User } from '../../../src/model/user.ts';
import { sandboxRecord } from '../../store/fixtures.ts';

const caller = { id: 'user_1' } as User;
const imageEnv = { PATH: '/image/bin', HOME: '/home/app', USER: 'app', SHELL: '/bin/zsh', TOOL: 'x' };
const plain = { PATH: '/image/bin', LANG: 'C.UTF-8', TOOL: 'x', OMP_NUM_THREADS: '2', PYTHON_CPU_COUNT: '2' };

let sandbox: Sandbox;
let asked: { user?: string; path?: string; cwd?: string; env?: Record<string, string> }[];

const uses = {
  run: (_caller: unknown, _reference: unknown, work: (found: Sandbox) => unknown) => work(sandbox),
} as unknown as SandboxUses;
const done = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0), exitCode: 0, timedOut: false };
const answer = async (_id: string, request: object) => {
  asked.push(request);
  return done as never;
};
const agent = {
  ...{ exec: answer, execBytes: answer, runCode: answer, createSession: answer, stat: answer, move: answer },
  async readStream(_id: string, query: object) {
    asked.push(query);
    return { size: 0, stream: Readable.from([]) };
  },
} as unknown as AgentLink;
const environments = new Environments({
  images: { get: async () => ({ env: imageEnv }) as never },
  runtime: { deviceEnvironment: () => ({}) },
  secrets: { environment: async () => ({}) },
});
const files = filesOf(uses, agent);
const execution = new ExecutionService(uses, agent, environments);
const store = { note: async () => {} } as unknown as SessionStore;
const sessions = new SessionService(uses, agent, environments, store);
const git = new GitService({ uses, agent, environments } as unknown as GitServiceDependencies);

beforeEach(() => {
  sandbox = sandboxRecord();
  asked = [];
});

it('files: the user of the call, else of the sandbox, else none', async () => {
  await files.info(caller, 'box', { path: 'a' });
  sandbox = sandboxRecord({ user: 'ann' });
  await files.info(caller, 'box', { path: 'b' });
  await files.move(caller, 'box', { source: 'a', destination: 'b', user: 'bob' });
  await files.info(caller, 'box', { path: 'saved', user: null });
  const { stream } = await files.readStream(caller, 'box', { path: '~/c', user: 'root' });
  stream.destroy();
  expect(asked).toEqual([
    { path: 'a' },
    { path: 'b', user: 'ann' },
    { source: 'a', destination: 'b', user: 'bob' },
    { path: 'saved' },
    { path: '~/c', user: 'root' },
  ]);
});

it('commands, code, sessions and git begin in the base of relative paths, as that user', async () => {
  sandbox = sandboxRecord({ user: 'ann' });
  await execution.runCommand(caller, 'box', { command: 'id', env: {}, timeoutMs: 1, user: 'bob' });
  await execution.runCode(caller, 'box', { code: '1', timeoutMs: 1 });
  await sessions.create(caller, 'box', { sessionId: 's' });
  await sessions.create(caller, 'box', { user: '1000' });
  await git.status({ caller, sandbox: 'box' }, {});
  expect(asked.map(({ user, cwd }) => [user, cwd])).toEqual([
    ['bob', '.'],
    ['ann', undefined],
    ['ann', '.'],
    ['1000', '.'],
    ['ann', '.'],
  ]);
});

it("the account of a user is the agent's to add; what the sandbox and the call set stays", async () => {
  const run = (env: Record<string, string>, user?: string) =>
    execution.runCommand(caller, 'box', { command: 'env', env, timeoutMs: 1, user });
  await run({});
  await run({}, 'ann');
  await run({ HOME: '/tmp', B: 'c' }, 'ann');
  sandbox = sandboxRecord({ user: 'ann', envVars: { HOME: '/workspace' } });
  await run({});
  expect(asked.map(({ env }) => env)).toEqual([
    { ...plain, HOME: '/home/app', USER: 'app', SHELL: '/bin/zsh' },
    plain,
    { ...plain, HOME: '/tmp', B: 'c' },
    { ...plain, HOME: '/workspace' },
  ]);
});
