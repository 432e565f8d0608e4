import { buffer, text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentLink, LivePiece, LiveRequest, RunningProcess } from '../../../src/control/ports/index.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import { authorityCertificate } from '../../../src/runtime/oci/network/egress/authority.ts';
import { carryOverTls, type TlsCarry } from '../tls/carry.ts';
import { audience } from './audience.ts';
import { answeringInTurn, type Carry, greeting, SANDBOX } from './fake-agent.ts';
import { bytesOf, type GoldenFrame, goldenExchanges } from './golden.ts';
import { contextCalls } from './golden-contexts.ts';
import { detachedCalls } from './golden-detached.ts';
import { terminalCalls } from './golden-terminals.ts';
import { watchingCalls } from './golden-watching.ts';

const IN_SESSION = { sessionId: 'build', commandId: 'cmd_0123456789abcdef' };
const WHOLE_ROOT = { path: '.', contextLines: 0, maxItems: 50, offset: 0 };
const TEXT_OUTPUT = { timedOut: false, truncated: false };

/** For each golden exchange the call that makes it, and what the call gives. */
const calls: Record<
  string,
  { call: (agent: AgentLink) => Promise<unknown>; gives?: unknown; fails?: object; greets?: 4 | 6 | 7 | 9 }
> = {
  hello: { call: (agent) => agent.hello(SANDBOX, 7), gives: { persistence: null } },
  'hello-older': { call: (agent) => agent.hello(SANDBOX, 7), gives: { persistence: null } },
  'hello-root': { call: (agent) => agent.hello(SANDBOX, 7), gives: { persistence: 'root' } },
  'hello-other': { call: (agent) => agent.hello(SANDBOX, 8), fails: { code: 'failed_precondition' } },
  exec: {
    call: (agent) =>
      agent.exec(SANDBOX, {
        argv: ['bash', '-c', 'echo é; echo b >&2; exit 3'],
        cwd: '.',
        env: { PATH: '/bin' },
        timeoutMs: 60_000,
      }),
    gives: { ...TEXT_OUTPUT, stdout: 'é\n', stderr: 'b\n', output: 'é\nb\n', exitCode: 3, durationMs: 2 },
  },
  'exec-live': {
    greets: 4,
    call: (agent) =>
      shown(false, (live) =>
        agent.exec(SANDBOX, {
          argv: ['bash', '-c', 'echo é; echo b >&2; exit 3'],
          cwd: '.',
          env: { PATH: '/bin' },
          timeoutMs: 60_000,
          live,
        }),
      ),
    gives: {
      result: { ...TEXT_OUTPUT, stdout: 'é\n', stderr: 'b\n', output: 'é\nb\n', exitCode: 3, durationMs: 2 },
      pieces: [
        { stream: 'stdout', hex: 'c3', leftOutBytes: 0 },
        { stream: 'stdout', hex: 'a90a', leftOutBytes: 0 },
        { stream: 'stderr', hex: '620a', leftOutBytes: 0 },
        { stream: 'stderr', hex: '', leftOutBytes: 7 },
      ],
    },
  },
  'exec-whole': {
    greets: 6,
    call: (agent) =>
      shown(true, (live) =>
        agent.exec(SANDBOX, {
          argv: ['bash', '-c', "printf '\\377é'; echo b >&2"],
          cwd: '.',
          env: { PATH: '/bin' },
          timeoutMs: 60_000,
          live,
        }),
      ),
    gives: {
      result: expect.objectContaining({ stdout: '\ufffdé', stderr: 'b\n', exitCode: 0 }),
      pieces: [
        { stream: 'stdout', hex: 'ffc3', leftOutBytes: 0 },
        { stream: 'stderr', hex: '620a', leftOutBytes: 0 },
        { stream: 'stdout', hex: 'a9', leftOutBytes: 0 },
      ],
    },
  },
  'exec-user': {
    call: (agent) =>
      agent.exec(SANDBOX, {
        user: 'ann',
        argv: ['bash', '-c', 'id -un'],
        cwd: '.',
        env: { PATH: '/bin' },
        timeoutMs: 60_000,
      }),
    gives: { ...TEXT_OUTPUT, stdout: 'ann\n', stderr: '', output: 'ann\n', exitCode: 0, durationMs: 2 },
  },
  'exec-missing': {
    call: (agent) => agent.exec(SANDBOX, { argv: ['fish'], cwd: '.', env: {}, timeoutMs: 1_000 }),
    fails: { code: 'failed_precondition', fields: { resource: 'interpreter' } },
  },
  'start-background': {
    call: (agent) =>
      agent.startBackground(SANDBOX, { argv: ['/entrypoint.sh', 'serve'], cwd: '/srv', env: { A: '1' } }),
    gives: undefined,
  },
  'run-code': {
    call: (agent) =>
      agent.runCode(SANDBOX, { language: 'python', code: 'print(1)', env: {}, timeoutMs: 30_000 }),
    gives: {
      ...TEXT_OUTPUT,
      ...{ stdout: '1\n', stderr: '', output: '1\n', exitCode: 0, durationMs: 20 },
      charts: [
        {
          type: 'line',
          title: 'T',
          x_label: null,
          y_label: null,
          x_scale: 'linear',
          y_scale: 'linear',
          elements: [{ label: null, points: [[0, 1.5]] }],
          png: 'iVBORw0KGgo=',
        },
      ],
    },
  },
  'run-code-live': {
    greets: 4,
    call: (agent) =>
      shown(false, (live) =>
        agent.runCode(SANDBOX, { language: 'python', code: 'print(1)', env: {}, timeoutMs: 30_000, live }),
      ),
    gives: {
      result: expect.objectContaining({ output: '1\n', charts: [expect.objectContaining({ title: 'T' })] }),
      pieces: [{ stream: 'stdout', hex: '310a', leftOutBytes: 0 }],
    },
  },
  list: {
    call: (agent) => agent.list(SANDBOX, { path: 'src', pattern: '*.rs', maxItems: 2, offset: 2 }),
    gives: {
      path: 'src',
      items: [
        { name: 'c.rs', type: 'file', size: 12, link: false },
        { name: 'd\uf7ff.rs', type: 'file', size: 3, link: true },
      ],
      totalCount: 4,
    },
  },
  entries: {
    call: (agent) => agent.details(SANDBOX, { user: 'ann', path: 'src', depth: 2, maxItems: 2, offset: 1 }),
    gives: {
      items: [
        {
          ...{ path: 'a/b.txt', type: 'file', size: 6, mode: 0o644, uid: 1000, gid: 1000 },
          ...{ owner: 'ann', group: 'ann', modifiedMs: 1_700_000_000_123, metadata: { origin: 'é' } },
        },
        {
          ...{ path: 'l', type: 'symlink', size: 3, mode: 0o777, uid: 0, gid: 0 },
          ...{ owner: 'root', group: 'root', modifiedMs: 1_700_000_000_123, target: 'a\uf7ff' },
        },
      ],
      ...{ totalCount: 3, nextOffset: null },
    },
  },
  'set-attributes': {
    call: (agent) =>
      agent.setAttributes(SANDBOX, {
        ...{ path: 'a.txt', mode: 0o640, owner: 'ann', group: '27', metadata: { origin: 'é' } },
      }),
    gives: undefined,
  },
  'write-metadata': {
    call: (agent) =>
      agent.write(SANDBOX, {
        ...{ path: 'a.txt', content: Buffer.from('hello\n'), createParents: true },
        metadata: { origin: 'é' },
      }),
    gives: { bytesWritten: 6, created: false },
  },
  find: {
    call: (agent) => agent.find(SANDBOX, { path: '.', pattern: '*', maxItems: 50, offset: 0 }),
    gives: { items: ['a', 'a/b.txt'], totalCount: 2 },
  },
  search: {
    call: (agent) =>
      agent.searchContent(SANDBOX, {
        path: 'src',
        query: 'fo+',
        filePattern: '*.ts',
        contextLines: 1,
        maxItems: 50,
        offset: 0,
      }),
    gives: {
      files: [
        {
          path: 'src/a.ts',
          matches: [{ line: 2, text: 'foo', before: ['one'], after: [] }],
          matchCount: 1,
          capped: false,
        },
      ],
      totalCount: 1,
      literal: false,
    },
  },
  replace: {
    call: (agent) =>
      agent.replaceInFiles(SANDBOX, { pattern: '(f)oo', replacement: '\\1&', files: ['a.txt', 'gone'] }),
    gives: {
      results: [
        { path: 'a.txt', status: 'success', replacements: 2 },
        { path: 'gone', status: 'error', replacements: 0, error: "'gone' does not exist." },
      ],
      filesModified: 1,
      literal: false,
    },
  },
  'search-counts': {
    call: (agent) =>
      agent.searchContent(SANDBOX, { ...WHOLE_ROOT, query: 'a.b', literal: true, output: 'counts' }),
    gives: { files: [{ path: 'a.txt', matchCount: 60 }], totalCount: 1, literal: true },
  },
  'search-files': {
    call: (agent) => agent.searchContent(SANDBOX, { ...WHOLE_ROOT, query: 'a', output: 'files' }),
    gives: { files: [{ path: 'a.txt' }], totalCount: 1, literal: false },
  },
  'search-plain': {
    call: (agent) => agent.searchContent(SANDBOX, { ...WHOLE_ROOT, query: 'f(x)' }),
    gives: { files: [], totalCount: 0, literal: false, plainCount: 1 },
  },
  'replace-dry': {
    call: (agent) =>
      agent.replaceInFiles(SANDBOX, {
        ...{ pattern: 'f(x)', replacement: 'g(x)', files: ['**/*.ts'] },
        ...{ literal: true, dryRun: true, exclude: ['vendor'] },
      }),
    gives: {
      results: [{ path: 'a.ts', status: 'success', replacements: 2 }],
      filesModified: 1,
      literal: true,
    },
  },
  stat: {
    call: (agent) => agent.stat(SANDBOX, { path: 'a.txt' }),
    gives: {
      path: 'a.txt',
      type: 'file',
      size: 6,
      mode: 0o644,
      owner: 'root',
      group: 'root',
      modifiedMs: 1_700_000_000_123,
    },
  },
  'stat-missing': {
    call: (agent) => agent.stat(SANDBOX, { path: 'nope' }),
    fails: { code: 'not_found', fields: { resource: 'file', parameter: 'path' } },
  },
  read: {
    call: (agent) => agent.read(SANDBOX, { path: 'a.txt', startLine: 2, endLine: 3 }),
    gives: { content: Buffer.from('b\nc\n'), size: 8, totalLines: 4, startLine: 2, endLine: 3 },
  },
  'read-stream': {
    call: async (agent) => {
      const { size, stream } = await agent.readStream(SANDBOX, { path: 'a.bin', start: 1, end: 4 });
      return { size, content: await buffer(stream) };
    },
    gives: { size: 10, content: Buffer.from('bcde') },
  },
  write: {
    call: (agent) =>
      agent.write(SANDBOX, {
        path: 'new/a.txt',
        createParents: true,
        mode: 0o600,
        content: Buffer.from('hello\n'),
      }),
    gives: { bytesWritten: 6, created: true },
  },
  'write-durable': {
    call: (agent) =>
      agent.write(SANDBOX, {
        path: 'a.txt',
        createParents: false,
        durable: true,
        content: Buffer.from('hello\n'),
      }),
    gives: { bytesWritten: 6, created: false },
  },
  'write-new': {
    call: (agent) =>
      agent.write(SANDBOX, {
        path: 'new/a.txt',
        createParents: true,
        newBeneath: '/workspace',
        content: Buffer.from('other\n'),
      }),
    fails: { code: 'already_exists', fields: { parameter: 'path' } },
  },
  'mkdir-privileged': {
    call: (agent) => agent.createFolder(SANDBOX, { user: 'ann', privileged: true, path: '/d', mode: 0o755 }),
    gives: { created: true },
  },
  mkdir: {
    call: (agent) => agent.createFolder(SANDBOX, { path: 'd', mode: 0o750 }),
    gives: { created: true },
  },
  move: { call: (agent) => agent.move(SANDBOX, { source: 'a', destination: 'b' }), gives: undefined },
  'session-create': {
    call: (agent) => agent.createSession(SANDBOX, { sessionId: 'build', cwd: '.', env: { TERM: 'dumb' } }),
    gives: { createdAtMs: 1_700_000_000_123 },
  },
  'session-list': {
    call: (agent) => agent.listSessions(SANDBOX),
    gives: {
      sessions: [
        {
          sessionId: 'build',
          createdAtMs: 1_700_000_000_123,
          recentCommands: [
            { commandId: 'cmd_0123456789abcdef', command: 'make', status: 'running', exitCode: null },
            { commandId: 'cmd_0000000000000000', command: 'false', status: 'completed', exitCode: 1 },
          ],
        },
      ],
      busy: true,
      idleMs: 250,
    },
  },
  'session-run': {
    call: (agent) =>
      agent.runSessionCommand(SANDBOX, {
        ...IN_SESSION,
        command: 'echo é; echo b >&2; false',
        waitTurnMs: 60_000,
        waitRunMs: 600_000,
      }),
    gives: { status: 'completed', exitCode: 1, output: 'é\nb\n' },
  },
  'session-run-closed': {
    call: (agent) =>
      agent.runSessionCommand(SANDBOX, { ...IN_SESSION, command: 'true', waitTurnMs: 0, waitRunMs: 0 }),
    gives: { status: 'closed', exitCode: null, output: '' },
  },
  'session-logs': {
    call: (agent) => agent.sessionCommandLogs(SANDBOX, IN_SESSION.sessionId, IN_SESSION.commandId),
    gives: {
      status: 'running',
      exitCode: null,
      truncated: false,
      stdout: 'a\n',
      stderr: 'b\n',
      output: 'a\nb\n',
      nextOffset: 4,
    },
  },
  'session-follow': {
    call: (agent) => agent.followSessionCommand(SANDBOX, { ...IN_SESSION, offset: 2, waitMs: 5_000 }),
    gives: { status: 'running', exitCode: null, truncated: false, nextOffset: 4, output: 'b\n' },
  },
  'session-follow-raw': {
    greets: 6,
    call: (agent) =>
      agent.followSessionBytes(SANDBOX, { ...IN_SESSION, generation: 7, offset: 2, waitMs: 5_000 }),
    gives: {
      ...{ status: 'completed', exitCode: 0, truncated: true, nextOffset: 16 },
      output: 'a\n[… 11 bytes left out …]\nz\n',
      pieces: [
        { stream: 'stdout', bytes: Buffer.from('61c3', 'hex'), leftOutBytes: 0 },
        { stream: 'stdout', bytes: Buffer.from('a97a0a', 'hex'), leftOutBytes: 9 },
      ],
    },
  },
  'session-follow-streams': {
    greets: 7,
    call: (agent) =>
      agent.followSessionBytes(SANDBOX, {
        ...{ ...IN_SESSION, generation: 7, offset: 2, waitMs: 5_000, streams: true },
      }),
    gives: expect.objectContaining({
      output: 'ab\n\n[… 1 bytes left out …]\nc\nd\n',
      pieces: [
        { stream: 'stdout', bytes: Buffer.from('ab\n'), leftOutBytes: 0 },
        { stream: 'stderr', bytes: Buffer.from('c\n'), leftOutBytes: 1 },
        { stream: 'stdout', bytes: Buffer.from('d\n'), leftOutBytes: 0 },
      ],
    }),
  },
  'session-input-as-is': {
    call: (agent) => agent.sendSessionInput(SANDBOX, { ...IN_SESSION, input: 'y', asIs: true }),
    gives: 'running',
  },
  'session-delete': { call: (agent) => agent.deleteSession(SANDBOX, 'build'), gives: undefined },
  'session-input': {
    call: (agent) => agent.sendSessionInput(SANDBOX, { ...IN_SESSION, input: 'yes' }),
    gives: 'running',
  },
  process: {
    call: (agent) =>
      outputOf(
        agent.openProcess(SANDBOX, {
          argv: ['bash', '-c', 'echo é; echo b >&2; kill -9 $$'],
          cwd: '.',
          env: { PATH: '/bin' },
        }),
      ),
    gives: { stdout: 'é\n', stderr: 'b\n', exitCode: 137, signal: 'SIGKILL' },
  },
  'process-terminal': {
    call: (agent) =>
      outputOf(
        agent.openProcess(SANDBOX, {
          argv: ['stty', 'size'],
          cwd: '/',
          env: { TERM: 'xterm' },
          terminal: { columns: 132, rows: 43 },
        }),
      ),
    gives: { stdout: '43 132\r\n', stderr: '', exitCode: 0, signal: null },
  },
  'process-missing': {
    call: (agent) => agent.openProcess(SANDBOX, { argv: ['fish'], cwd: '.', env: {} }),
    fails: { code: 'failed_precondition', fields: { resource: 'interpreter' } },
  },
  sftp: {
    call: (agent) => outputOf(agent.openSftp(SANDBOX)),
    gives: { stdout: '', stderr: '', exitCode: 0, signal: null },
  },
  tcp: {
    call: async (agent) => {
      const stream = await agent.connectPort(SANDBOX, 8080);
      stream.end('ping');
      const chunks: Buffer[] = [];
      // Left open when it ends: what is destroyed sends no end of its own.
      for await (const chunk of stream.iterator({ destroyOnReturn: false })) chunks.push(chunk);
      return Buffer.concat(chunks).toString();
    },
    gives: 'pong',
  },
  'tcp-refused': {
    call: (agent) => agent.connectPort(SANDBOX, 8080),
    fails: { code: 'not_found', fields: { resource: 'port' } },
  },
  listen: {
    call: async (agent) => {
      const listener = await agent.listenPort(SANDBOX, { port: 0, everywhere: true }, () => {});
      listener.close();
      await listener.ended;
      return listener.port;
    },
    gives: 40_123,
  },
  'listen-taken': {
    call: (agent) => agent.listenPort(SANDBOX, { port: 8080 }, () => {}),
    fails: { code: 'already_exists', fields: { resource: 'port' } },
  },
  ports: {
    call: (agent) => agent.ports(SANDBOX),
    gives: [
      { port: 22, name: 'sshd', pid: 7, command: 'sshd: /usr/sbin/sshd -D' },
      // As agents said it before they knew pid and command.
      { port: 8080, name: '', pid: null, command: null },
    ],
  },
  trust: {
    call: (agent) => agent.trust(SANDBOX, authorityCertificate(Buffer.alloc(32, 1), SANDBOX)),
    gives: undefined,
  },
  ...terminalCalls,
  ...detachedCalls,
  ...contextCalls,
  ...watchingCalls,
  remove: { call: (agent) => agent.remove(SANDBOX, { path: 'd', recursive: true }), gives: undefined },
};

async function shown(whole: boolean, call: (live: LiveRequest) => Promise<unknown>): Promise<unknown> {
  const { output, pieces } = audience(whole);
  const result = await call({ generation: 7, output });
  const hex = ({ bytes, ...piece }: LivePiece) => ({ ...piece, hex: bytes.toString('hex') });
  return { result, pieces: pieces.map(hex) };
}

async function outputOf(opening: Promise<RunningProcess>): Promise<unknown> {
  const program = await opening;
  const [stdout, stderr] = await Promise.all([text(program.stdout), text(program.stderr)]);
  return { stdout, stderr, ...(await program.ended) };
}

describe('golden exchanges', () => {
  it('are all made by a call here', () => {
    expect(
      goldenExchanges()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(Object.keys(calls).sort());
  });

  for (const { name, meaning, host, agent } of goldenExchanges()) {
    it(`${name}: ${meaning}`, () => replay(name, host, agent));
  }
});

describe('golden exchanges over TLS', () => {
  let carried: TlsCarry;
  beforeAll(async () => {
    carried = await carryOverTls();
  });
  afterAll(() => carried[Symbol.asyncDispose]());

  it.each(goldenExchanges())('$name: $meaning', ({ name, host, agent }) =>
    replay(name, host, agent, carried.carry),
  );
});

async function replay(name: string, host: GoldenFrame[], agent: GoldenFrame[], carry?: Carry): Promise<void> {
  const expected = calls[name];
  if (!expected) throw new Error(`no call makes ${name}`);
  const answer = bytesOf(agent);
  const fake = answeringInTurn(expected.greets ? [greeting(expected.greets), answer] : [answer], carry);
  const outcome = await expected.call(fake.link).catch((error: unknown) => error);
  if (expected.fails) {
    expect(outcome).toBeInstanceOf(SandhavenError);
    expect(outcome).toMatchObject(expected.fails);
  } else {
    expect(outcome).toEqual(expected.gives);
  }
  await expect.poll(() => fake.received().toString('hex')).toBe(bytesOf(host).toString('hex'));
  await sleep(0);
  expect(fake.closed()).toBe(true);
}
