/** The receivers of docs/webhooks.md take what the service signs, and nothing else. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { signedHeaders } from '../../src/model/webhooks/attempts.ts';
import { freePort } from '../images/registry/registry.ts';
import { temporaryDirectory } from '../store/fixtures.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const page = readFileSync(join(import.meta.dirname, '../../docs/webhooks.md'), 'utf8');

it.each([
  ['js', process.execPath, 'receiver.mjs'],
  ['python', 'python3', 'receiver.py'],
])('the one in %s', async (language, program, name) => {
  const [, code = ''] = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(page) ?? [];
  expect(code.trim().split('\n').length).toBeLessThanOrEqual(15);
  const port = await freePort();
  const file = join(temporaryDirectory(), name);
  writeFileSync(file, code.replace('8080', String(port)));
  const running = spawn(program, [file], {
    env: { PATH: process.env['PATH'], WEBHOOK_SECRET: secret },
    stdio: 'ignore',
  });
  onTestFinished(() => void running.kill('SIGKILL'));
  const send = async (secrets: string[], ageSeconds: number, body = '{"type":"webhook.test"}') => {
    const timestamp = Math.floor(Date.now() / 1_000) - ageSeconds;
    const headers = signedHeaders({ id: 'msg_1', timestamp, body: '{"type":"webhook.test"}' }, secrets);
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body }).catch(
      () => null,
    );
    return answer?.status ?? null;
  };
  await expect.poll(() => send([secret], 0)).toBe(204);
  expect(await send(['whsec_AAAA', secret], 0)).toBe(204);
  expect(await send(['whsec_AAAA'], 0)).toBe(401);
  expect(await send([secret], 600)).toBe(401);
  expect(await send([secret], 0, '{"type":"webhook.else"}')).toBe(401);
});
