/** `sandhaven attach` as its users have it: a process in a real terminal, a real agent behind the service. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { SandboxStore } from '../../../src/control/ports/index.ts';
import type { Services } from '../../../src/control/services.ts';
import { TerminalService } from '../../../src/control/work/terminals.ts';
import type { Sandbox } from '../../../src/model/sandbox.ts';
import { type ScratchSandbox, startScratchSandbox } from '../../agent-link/scratch-sandbox.ts';
import { bin } from '../../support/service.ts';
import { API_KEY, createFakeServices } from '../fakes/fake-services.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';

let scratch: ScratchSandbox;
let http: Harness;
const children: ChildProcess[] = [];

beforeAll(async () => {
  scratch = await startScratchSandbox();
  const sandbox = { id: scratch.id, name: 'box', ownerId: 'user_1' } as Sandbox;
  const env = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root' };
  const terminals = new TerminalService({
    store: { find: async () => sandbox, get: async () => sandbox } as unknown as SandboxStore,
    uses: {
      connected: (_id: string, work: (found: Sandbox) => Promise<void>) => work(sandbox),
    } as never,
    agent: scratch.agent,
    environments: { of: async () => env },
  });
  http = await startHttp({
    services: { ...createFakeServices().services, terminals } as unknown as Services,
  });
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

afterAll(async () => {
  await http?.close();
  await scratch?.[Symbol.asyncDispose]();
});

/** In a terminal of its own, whose modes are shown once the command has ended. */
function attach(size: string, ...args: string[]) {
  const command = `stty ${size}; ${[bin, 'attach', 'box', ...args].join(' ')}; echo "ended $?"; stty -a`;
  const env = {
    PATH: process.env['PATH'] ?? '',
    SANDBOX_API_URL: http.url,
    SANDBOX_API_KEY: API_KEY,
    TERM: 'xterm',
  };
  const child = spawn('script', ['-qec', command, '/dev/null'], { env, stdio: 'pipe' });
  children.push(child);
  const seen = { text: '' };
  child.stdout.on('data', (bytes) => {
    seen.text += bytes;
  });
  return {
    seen,
    type: (keys: string) => child.stdin.write(keys),
    until: (words: string) =>
      expect.poll(() => seen.text.includes(words) || seen.text.slice(-500), { timeout: 20_000 }).toBe(true),
    ended: once(child, 'exit'),
  };
}

it('shows the terminal in the size of the window, and ends with the status of the shell', async () => {
  const { seen, type, until, ended } = attach('cols 91 rows 31');
  await until('# ');
  type('stty size; tty\r');
  await until('31 91\r');
  await until('/dev/pts/');
  type('exit 9\r');
  await ended;
  expect(seen.text).toContain('ended 9');
  expect(seen.text).toMatch(/ icanon[\s\S]* echo /);
});

it('moves the cursor straight down for a line feed alone, as a program on the whole screen means it', async () => {
  const { seen, type, until } = attach('cols 80 rows 24', '--terminal', 'screen');
  await until('# ');
  type('stty -opost; printf \'one\\ntwo\'; stty opost; echo; echo re""ady\r');
  await until('ready\r');
  expect(seen.text).toContain('one\x1bDtwo');
});

it('passes an interrupt on, is left with its keys, and shows all that was printed when it comes back', async () => {
  const first = attach('cols 80 rows 24');
  await first.until('# ');
  first.type('sleep 1000\r');
  await first.until('sleep 1000');
  first.type('\x03');
  await first.until('^C');
  first.type('kept=value; echo "wri"tten\r');
  await first.until('written\r');
  first.type('\x10\x11');
  await first.ended;
  expect(first.seen.text).toContain("Detached from terminal 'main' of 'box', which keeps running.");
  expect(first.seen.text).toMatch(/ended 0[\s\S]* icanon[\s\S]* echo /);

  const second = attach('cols 80 rows 24', '--detach-keys', "'ctrl-],d'");
  await second.until('written\r');
  second.type('echo "kept is $kept"\r');
  await second.until('kept is value');
  second.type('\x1dd');
  await second.ended;
  expect(second.seen.text).toContain('ended 0');
});
