import { randomBytes } from 'node:crypto';
import { lstatSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { must, type Service, startService } from '../support/service.ts';
import { attempts, commandOf } from './attempts.ts';

const secret = randomBytes(16).toString('hex');
const marker = `/var/tmp/sandhaven-marker-${secret.slice(0, 8)}`;
let service: Service;
let listener: Server;
let facts: Record<string, string>;

beforeAll(async () => {
  writeFileSync(marker, secret, { mode: 0o644 });
  listener = createServer((socket) => socket.end('reached the host')).listen(0, '0.0.0.0');
  service = await startService();
  await must(service, 'CreateSandbox', { name: 'attacker' });
  await must(service, 'CreateSandbox', { name: 'sibling' });
  const sibling = await command('sibling', 'nohup python3 -m http.server 8000 >/dev/null 2>&1 & hostname -I');
  const disk = lstatSync('/').dev;
  facts = {
    marker,
    secret,
    dataDir: service.dataDir,
    hostPort: String((listener.address() as { port: number }).port),
    hostAddresses: JSON.stringify(hostAddresses()),
    sibling: sibling.trim().split(' ')[0] ?? '',
    diskMajor: String((disk >> 8) & 0xfff),
    diskMinor: String((disk & 0xff) | ((disk >> 12) & 0xfff00)),
  };
  expect(facts['sibling']).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
}, 120_000);

afterAll(async () => {
  rmSync(marker, { force: true });
  listener?.close();
  await service?.stop();
});

describe('from inside a sandbox, an attacker cannot', () => {
  for (const attempt of attempts) {
    it(attempt.name, async () => {
      const output = await command('attacker', commandOf(attempt, facts));
      expect(output).toContain('stopped');
      expect(output).not.toContain('ESCAPED');
    });
  }
});

describe('after all of it', () => {
  it('the sandbox and its sibling still answer, and the host has lost nothing', async () => {
    expect((await command('attacker', 'echo alive')).trim()).toBe('alive');
    expect(await command('sibling', 'curl -s -o /dev/null -w "%{http_code}" http://127.0.0.1:8000/')).toBe(
      '200',
    );
  });
});

function hostAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flat()
    .filter((entry) => entry !== undefined && entry.family === 'IPv4' && !entry.internal)
    .map((entry) => entry?.address ?? '');
}

async function command(sandbox: string, text: string): Promise<string> {
  const { output } = await must(service, 'RunCommand', { sandbox, command: text, timeout_seconds: 60 });
  return String(output);
}
