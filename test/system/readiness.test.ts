/** `/readyz` of a service whose engine is broken for real, and mended again. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { noTraces, tracesOf } from '../support/host.ts';
import { type Service, startService } from '../support/service.ts';

let service: Service;

beforeAll(async () => {
  service = await startService({
    provokes: ['The machine could not be started.', 'no sandbox can be made: the service is not ready'],
  });
}, 120_000);

afterAll(() => service?.stop());

/** The cgroup that every program of the engine joins; without it nothing can be started. */
function fence(): string {
  const name = `sandhaven-${readFileSync(join(service.dataDir, 'instance'), 'utf8').trim()}-helpers`;
  const roots = ['', ...readdirSync('/sys/fs/cgroup')].map((root) => join('/sys/fs/cgroup', root, name));
  const folder = roots.find(
    (root) => existsSync(root) && readdirSync(root, { withFileTypes: true }).some((e) => e.isDirectory()),
  );
  const boot =
    folder && readdirSync(folder, { withFileTypes: true }).find((entry) => entry.isDirectory())?.name;
  if (!folder || !boot) throw new Error('the service has no fence');
  return join(folder, boot);
}

/** No sandbox can be made while it is gone. */
async function removed(group: string): Promise<void> {
  const remove = () => {
    try {
      rmdirSync(group);
      return true;
    } catch {
      return false;
    }
  };
  // A helper that ends just now is still in it.
  await expect.poll(remove).toBe(true);
}

it('[WIRE-ERR-16] is 503 with the reason while no sandbox can be made, and 200 once one can', async () => {
  const group = fence();
  await removed(group);
  const answer = await fetch(`${service.url}/readyz`);
  expect(answer.status).toBe(503);
  expect(await answer.json()).toMatchObject({
    code: 'unavailable',
    detail: 'No sandbox can be made: The machine could not be started.',
    hint: 'Run `sandhaven doctor` on the host; the log of the service has the cause.',
  });
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
  mkdirSync(group);
  await expect.poll(async () => (await fetch(`${service.url}/readyz`)).status, { timeout: 15_000 }).toBe(200);
  expect(await tracesOf(service.dataDir)).toEqual(noTraces);
}, 60_000);

it('makes none again for what was found out within the last minute', async () => {
  const status = async () => (await fetch(`${service.url}/readyz`)).status;
  expect(await status()).toBe(200);
  const group = fence();
  await removed(group);
  try {
    for (let times = 0; times < 50; times++) expect(await status()).toBe(200);
  } finally {
    mkdirSync(group);
  }
}, 30_000);
