/** A service whose store is in PostgreSQL: the same sandboxes, also after a restart and after a crash of the server. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, must, type Service, startService } from '../../support/service.ts';
import { type PostgresServer, startPostgres } from './server.ts';

const PASSWORD = 'canary-9d20b7';
let server: PostgresServer;
let service: Service;
let url: string;

beforeAll(async () => {
  server = await startPostgres({ password: PASSWORD });
  url = await server.database();
  service = await startService({
    env: { SANDHAVEN_STORE: url, PGPASSWORD: PASSWORD },
    // While PostgreSQL is down.
    provokes: ['the audit log cannot be written', 'scheduler turn failed', 'images could not be collected'],
  });
}, 120_000);

afterAll(async () => {
  await service?.stop();
  await server?.stop();
});

it('works, and goes on after a restart', async () => {
  await must(service, 'CreateSandbox', { name: 'box', labels: { team: 'a' }, env_vars: { A: '1' } });
  await must(service, 'WriteFile', { sandbox: 'box', path: 'kept', content: 'kept' });
  await service.restart();
  expect(await must(service, 'ReadFile', { sandbox: 'box', path: 'kept' })).toMatchObject({
    content: 'kept',
  });
  const { stdout } = await must(service, 'RunCommand', { sandbox: 'box', command: 'echo $A' });
  expect(stdout).toBe('1\n');
  expect(await must(service, 'ListSandboxes', { labels: { team: 'a' } })).toMatchObject({ total_count: 1 });
});

it('keeps the sandboxes when it is started without the address of its store', async () => {
  await service.terminate();
  await expect(startService({ dataDir: service.dataDir })).rejects.toThrow('--store postgres://');
  await service.restart();
  expect(await must(service, 'GetSandbox', { sandbox: 'box' })).toMatchObject({ state: 'started' });
});

it('says that its store does not answer while PostgreSQL is down, and goes on when it is back', async () => {
  await server.kill();
  const { body } = await call(service, 'GetSandbox', { sandbox: 'box' });
  expect(body).toMatchObject({ code: 'unavailable' });
  await server.start();
  await expect
    .poll(async () => (await call(service, 'StopSandbox', { sandbox: 'box' })).body['code'], {
      timeout: 20_000,
    })
    .toBeUndefined();
  await must(service, 'StartSandbox', { sandbox: 'box' });
  expect(await must(service, 'ReadFile', { sandbox: 'box', path: 'kept' })).toMatchObject({
    content: 'kept',
  });
}, 60_000);

it('shows the password in no argument and no log', async () => {
  expect(readFileSync(`/proc/${service.pid}/cmdline`, 'utf8')).not.toContain(PASSWORD);
  expect(service.log()).not.toContain(PASSWORD);
});
