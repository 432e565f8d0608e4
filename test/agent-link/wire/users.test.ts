/** Work as a Linux user: what asks for it names the user, and an agent that knows no users says what to do. */
import { expect, it } from 'vitest';
import type { AgentLink } from '../../../src/control/ports/index.ts';
import { answering, fault, SANDBOX } from './fake-agent.ts';

const HEADER_BYTES = 5;
const user = 'ann';
const env = {};
const cwd = '.';
const argv = ['true'];
const page = { maxItems: 1, offset: 0 };

const calls: [string, (agent: AgentLink) => Promise<unknown>][] = [
  ['exec', (agent) => agent.exec(SANDBOX, { user, argv, cwd, env, timeoutMs: 1 })],
  ['exec', (agent) => agent.execBytes(SANDBOX, { user, argv, cwd, env, timeoutMs: 1, outputBytes: 1 })],
  ['run_code', (agent) => agent.runCode(SANDBOX, { user, language: 'python', code: '', env, timeoutMs: 1 })],
  ['process', (agent) => agent.openProcess(SANDBOX, { user, argv, cwd, env })],
  [
    'process_start',
    (agent) => agent.startDetached(SANDBOX, { user, argv, cwd, env, label: 'true', timeoutMs: 1 }),
  ],
  ['sftp', (agent) => agent.openSftp(SANDBOX, { user })],
  ['list', (agent) => agent.list(SANDBOX, { user, path: '~', ...page })],
  ['find', (agent) => agent.find(SANDBOX, { user, path: '~', pattern: '*', ...page })],
  ['stat', (agent) => agent.stat(SANDBOX, { user, path: 'a' })],
  ['read', (agent) => agent.read(SANDBOX, { user, path: 'a' })],
  ['read_stream', (agent) => agent.readStream(SANDBOX, { user, path: 'a' })],
  [
    'write',
    (agent) => agent.write(SANDBOX, { user, path: 'a', createParents: true, content: Buffer.from('x') }),
  ],
  ['mkdir', (agent) => agent.createFolder(SANDBOX, { user, path: 'a', mode: 0o755 })],
  ['move', (agent) => agent.move(SANDBOX, { user, source: 'a', destination: 'b' })],
  ['remove', (agent) => agent.remove(SANDBOX, { user, path: 'a', recursive: true })],
  [
    'search',
    (agent) => agent.searchContent(SANDBOX, { user, path: '.', query: 'x', contextLines: 0, ...page }),
  ],
  [
    'replace',
    (agent) => agent.replaceInFiles(SANDBOX, { user, pattern: 'x', replacement: 'y', files: ['a'] }),
  ],
  ['session_create', (agent) => agent.createSession(SANDBOX, { user, sessionId: 's', cwd, env })],
  [
    'terminal_open',
    (agent) =>
      agent.openTerminal(SANDBOX, { user, terminalId: 'main', size: null, create: { argv, cwd, env } }),
  ],
];

it.each(calls)('%s names the user, by version 7; an earlier agent needs a new start', async (op, call) => {
  const detail =
    'The request breaks the agent protocol: unknown field `user`, expected one of `v`, `path` at line 1 column 9.';
  const { link, received } = answering(fault({ code: 'invalid_argument', detail }));
  await expect(call(link)).rejects.toMatchObject({
    code: 'failed_precondition',
    message: 'The sandbox was started by an earlier version, whose agent does all work as root.',
    fields: { resource: 'agent', hint: 'Stop and start the sandbox; what runs in it ends then.' },
  });
  const sent = received();
  const request = sent.subarray(HEADER_BYTES, HEADER_BYTES + sent.readUInt32LE(0)).toString();
  expect(JSON.parse(request)).toMatchObject({ v: 7, op, user: 'ann' });
});

it('a path with those words is no sign of an earlier agent', async () => {
  const detail = "'unknown field `user`' is a folder.";
  const { link } = answering(fault({ code: 'invalid_argument', detail, parameter: 'path' }));
  const read = link.read(SANDBOX, { user, path: 'unknown field `user`' });
  await expect(read).rejects.toMatchObject({ code: 'invalid_argument', message: detail });
});
