/** The script of completion in a real bash, on a real terminal: what is on the line after the TAB key. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { API_KEY } from '../fakes/fake-people.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';

const bin = join(import.meta.dirname, '../../../bin');
const TAB = '\t';

let http: Harness;

beforeAll(async () => {
  http = await startHttp();
  for (const name of ['demo', 'my box']) await http.call('Sandbox.CreateSandbox', { name });
});

afterAll(() => http.close());

/** Types a line and TAB, and returns the words that bash then has, each in brackets. */
async function typed(line: string, url = http.url): Promise<string> {
  const shell = spawn('script', ['-qec', 'bash --norc --noprofile -i', '/dev/null'], {
    env: {
      PATH: `${bin}:${process.env['PATH']}`,
      HOME: process.env['HOME'] ?? '/',
      PS1: 'ready> ',
      TERM: 'dumb',
      SANDBOX_API_URL: url,
      SANDBOX_API_KEY: API_KEY,
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let shown = '';
  shell.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
  });
  const timeout = { timeout: 20_000 };
  try {
    await expect.poll(() => shown, timeout).toContain('ready> ');
    // The words are shown, not carried out.
    shell.stdin.write('source <(sandhaven completion bash)\n');
    shell.stdin.write('PS1="loaded> "\n');
    await expect.poll(() => shown, timeout).toMatch(/\nloaded> /);
    shell.stdin.write(`${line}${TAB}`);
    // Bash reads the next bytes once the completion has ended.
    shell.stdin.write('\u0001show() { printf "[%s]" "$@"; echo END; }; show \n');
    await expect.poll(() => shown, timeout).toMatch(/\]END/);
    return /(\[[^\n]*\])END/.exec(shown)?.[1] ?? shown;
  } finally {
    shell.stdin.end('\u0003exit\n');
    shell.kill();
  }
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
  expect(await typed('sandhaven stop d', 'http://127.0.0.1:9')).toBe('[sandhaven][stop][d]');
});
