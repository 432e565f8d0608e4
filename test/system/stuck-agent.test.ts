/** A service that stops while calls wait for a sandbox that does nothing any more, and their callers have left. */
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { must, type Service, startService } from '../support/service.ts';

/** Far less than the minute that some of these calls may take. */
const STOP_MS = 20_000;
const CALLS: [path: string, parameters: Record<string, unknown>][] = [
  ['/v1/tools/Sandbox.RunCommand', { command: 'true' }],
  ['/v1/tools/Sandbox.WriteFile', { path: 'note', content: 'x' }],
  ['/v1/admin/GetFileDetails', { path: '/workspace' }],
  ['/v1/admin/SetFileAttributes', { path: '/workspace', owner: 'root' }],
  ['/v1/admin/StartProcess', { command: 'true' }],
];
let service: Service | undefined;

afterAll(() => service?.stop());

it('a stop does not wait for the answers of an agent that is stuck', async () => {
  service = await startService();
  const sandbox = String((await must(service, 'CreateSandbox'))['id']);
  process.kill(agentOf(sandbox), 'SIGSTOP');
  for (const [path, parameters] of CALLS) await begunAndLeft(service, path, { sandbox, ...parameters });
  const begun = performance.now();
  expect(await service.terminate()).toBe(0);
  expect(performance.now() - begun).toBeLessThan(STOP_MS);
}, 120_000);

async function begunAndLeft({ url, apiKey }: Service, path: string, parameters: object): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const signal = AbortSignal.timeout(300);
  const answer = fetch(`${url}${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(parameters),
    signal,
  });
  await expect(answer).rejects.toThrow('timeout');
}

function agentOf(sandbox: string): number {
  const isAgent = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`--sandbox-id\0${sandbox}\0`);
    } catch {
      return false;
    }
  };
  const [pid] = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isAgent(name));
  if (pid === undefined) throw new Error(`no agent of ${sandbox}`);
  return Number(pid);
}
