/** The script of completion in a real bash, on a real terminal: what is on the line after the TAB key. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { API_KEY } from '../fakes/fake-people.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';

const bin = join(import.meta.dirname, '../../../bin');
const TAB = '\t';

let http: Harness;
let shell: ChildProcessByStdio<Writable, Readable, null>;
let shown = '';

beforeAll(async () => {
  http = await startHttp();
  for (const name of ['demo', 'my box']) await http.call('Sandbox.CreateSandbox', { name });
  await startShell();
});

afterAll(async () => {
  shell?.stdin.end('\u0003exit\n');
  shell?.kill();
  await http?.close();
});

const timeout = { timeout: 20_000 };

/** A shell with the script, which it has loaded once. */
async function startShell(): Promise<void> {
  shell = spawn('script', ['-qec', 'bash --norc --noprofile -i', '/dev/null'], {
    env: {
      PATH: `${bin}:${process.env['PATH']}`,
      HOME: process.env['HOME'] ?? '/',
      PS1: 'ready> ',
      TERM: 'dumb',
      SANDBOX_API_URL: http.url,
      SANDBOX_API_KEY: API_KEY,
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  shell.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
  });
  await vi.waitFor(() => expect(shown).toContain('ready> '), timeout);
  shell.stdin.write('source <(sandhaven completion bash)\n');
  await type('PS1="loaded> "\n', /\nloaded> /);
}

/** Resolves once what is shown since then matches. */
async function type(keys: string, expected: RegExp): Promise<void> {
  shown = '';
  shell.stdin.write(keys);
  await vi.waitFor(() => expect(shown).toMatch(expected), timeout);
}

/** Types a line and TAB, and returns the words that bash then has, each in brackets. */
async function typed(line: string): Promise<string> {
  // The words are shown, not carried out. Bash reads the bytes after TAB once the completion has ended.
  await type(`${line}${TAB}\u0001show() { printf "[%s]" "$@"; echo END; }; show \n`, /\]END[\s\S]*loaded> $/);
  return /(\[[^\n]*\])END/.exec(shown)?.[1] ?? shown;
}

it.each([
  ['sandhaven insp', '[sandhaven][inspect]'],
  ['sandhaven stop d', '[sandhaven][stop][demo]'],
  ['sandhaven stop m', '[sandhaven][stop][my box]'],
  ['sandhaven stop "my', '[sandhaven][stop][my box]'],
  ['sandhaven ls --state=sto', '[sandhaven][ls][--state=stopped]'],
  ['sandhaven cp de', '[sandhaven][cp][demo:]'],
  ['sandhaven create --lab', '[sandhaven][create][--labels]'],
])('%s', async (line, words) => {
  expect(await typed(line)).toBe(words);
});

it('leaves the line alone when the service is not there', async () => {
  await type('SANDBOX_API_URL=http://127.0.0.1:9\n', /\nloaded> $/);
  expect(await typed('sandhaven stop d')).toBe('[sandhaven][stop][d]');
});
