/** `sandhaven login` on a real terminal: the key that is typed is never shown. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { API_KEY } from '../fakes/fake-people.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';

const bin = join(import.meta.dirname, '../../../bin');

let http: Harness;
let home: string;

beforeAll(async () => {
  http = await startHttp();
});

afterAll(() => http.close());

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'sandhaven-login-'));
  return () => rm(home, { recursive: true });
});

/** Types keys at the prompt; resolves with all that the terminal showed, and the exit status. */
async function typed(keys: string): Promise<{ shown: string; code: number }> {
  const program = spawn('script', ['-qec', `sandhaven login --key ${http.url} --context here`, '/dev/null'], {
    env: { PATH: `${bin}:${process.env['PATH']}`, HOME: home, TERM: 'dumb' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let shown = '';
  program.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
  });
  await expect.poll(() => shown, { timeout: 20_000 }).toContain('API key of');
  program.stdin.write(keys);
  const [code] = await once(program, 'close');
  return { shown, code };
}

it('takes the key without showing it, a corrected one too', async () => {
  const { shown, code } = await typed(`${API_KEY}x\u007f\r`);
  expect(shown).toContain('Logged in to');
  expect(shown).not.toContain(API_KEY);
  expect(code).toBe(0);
  const file = await readFile(join(home, '.config/sandhaven/contexts.json'), 'utf8');
  expect(JSON.parse(file)).toMatchObject({ current: 'here', contexts: { here: { key: API_KEY } } });
});

it.each([
  ['an interrupt', '\u0003'],
  ['the end of input', '\u0004'],
])('stores nothing after %s', async (_case, key) => {
  const { shown, code } = await typed(key);
  expect(shown).toContain('Nothing was typed.');
  expect(code).toBe(2);
  await expect(readFile(join(home, '.config/sandhaven/contexts.json'))).rejects.toThrow();
});
