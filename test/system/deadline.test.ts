/** Deadlines of real sandboxes, which work when theirs comes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mustAct } from '../support/people.ts';
import { call, must, type Service, startService } from '../support/service.ts';

/** The scheduler looks each five seconds. */
const SOON = { timeout: 30_000, interval: 200 };

let service: Service;

beforeAll(async () => {
  service = await startService();
}, 120_000);

afterAll(() => service?.stop());

const create = (name: string) => must(service, 'CreateSandbox', { name, memory_gb: 1, disk_gb: 1 });
const set = (sandbox: string, seconds: number, action?: string) =>
  mustAct(service, 'SetSandboxDeadline', { sandbox, seconds, ...(action ? { action } : {}) });
const shown = (sandbox: string) => call(service, 'GetSandbox', { sandbox });

it('deletes one and stops another, whatever they do, and leaves alone those whose deadlines were moved and removed', async () => {
  for (const name of ['deleted', 'stopped', 'moved', 'removed']) await create(name);
  const running = call(service, 'RunCommand', { sandbox: 'deleted', command: 'sleep 60' });
  await set('deleted', 2, 'delete');
  await set('stopped', 2, 'stop');
  for (const name of ['moved', 'removed']) await set(name, 2, 'delete');
  expect(await set('moved', 600)).toMatchObject({ deadline_action: 'delete' });
  expect(await set('removed', 0)).toMatchObject({ deadline_at: null, deadline_action: null });
  await expect.poll(async () => (await shown('deleted')).status, SOON).toBe(404);
  const { body } = await running;
  // Killed with the rest while its agent could still say so, or cut off.
  expect([128 + 9, 128 + 15, 'invalid_state', 'not_found']).toContain(body['exit_code'] ?? body['code']);
  await expect
    .poll(async () => (await shown('stopped')).body, SOON)
    .toMatchObject({ state: 'stopped', state_reason: 'Stopped at its deadline.' });
  // Two more turns of the scheduler.
  await sleep(10_000);
  expect((await shown('moved')).body).toMatchObject({ state: 'started', deadline_action: 'delete' });
  expect((await shown('removed')).body).toMatchObject({ state: 'started' });
  expect((await shown('stopped')).body).not.toHaveProperty('deadline_at');
  const again = await must(service, 'StartSandbox', { sandbox: 'stopped' });
  expect(again).toMatchObject({ state: 'started' });
  expect(again).not.toHaveProperty('deadline_at');
  const { rows } = await mustAct(service, 'ListAudit', { action: 'SetSandboxDeadline' });
  expect((rows as { sandbox_id: string }[]).map(({ sandbox_id }) => sandbox_id)).toContain(again['id']);
  for (const sandbox of ['stopped', 'moved', 'removed']) await must(service, 'DeleteSandbox', { sandbox });
}, 120_000);
