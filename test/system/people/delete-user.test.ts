/** A user who is deleted, with real sandboxes: nothing of theirs is left, also when the process is killed in between. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { act, mustAct, person } from '../../support/people.ts';
import { call, must, type Service, startService } from '../../support/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
}, 60_000);
afterAll(() => service?.stop());

const SIZE = { cpu: 1, memory_gb: 1, disk_gb: 1 };

async function owned(): Promise<unknown[]> {
  const { sandboxes } = await mustAct(service, 'ListAllSandboxes');
  return (sandboxes as { name: string }[]).map(({ name }) => name);
}

it('leaves nothing of a user with a started and a stopped sandbox, and ends what they have open', async () => {
  const eve = await person(service, 'Eve');
  await must(service, 'CreateSandbox', { name: 'admins', ...SIZE });
  await must(eve, 'CreateSandbox', { name: 'started', ...SIZE });
  await must(eve, 'CreateSandbox', { name: 'stopped', ...SIZE });
  await must(eve, 'StopSandbox', { sandbox: 'stopped' });
  const busy = call(eve, 'RunCommand', { sandbox: 'started', command: 'sleep 600' }).catch(() => 'cut');
  await expect
    .poll(() => must(eve, 'RunCommand', { sandbox: 'started', command: 'pgrep -c sleep' }), { interval: 100 })
    .toMatchObject({ stdout: '1\n' });
  const deleted = await mustAct(service, 'DeleteUser', { user: eve.email, yes: true });
  expect(deleted).toMatchObject({ email: eve.email, deleted: true, sandboxes: 2, keys: 1 });
  expect(await busy).not.toMatchObject({ status: 200 });
  expect(await owned()).toEqual(['admins']);
  expect((await call(eve, 'ListSandboxes', {})).status).toBe(401);
}, 60_000);

it('goes on after a kill, and the next process ends it', async () => {
  const ivan = await person(service, 'Ivan');
  for (const name of ['one', 'two']) await must(ivan, 'CreateSandbox', { name, ...SIZE });
  const asked = act(service, 'DeleteUser', { user: ivan.email, yes: true }).catch(() => 'killed');
  const isDisabled = async () => {
    const { users } = await mustAct(service, 'ListUsers');
    return (users as { email: string; disabled: boolean }[]).find(({ email }) => email === ivan.email)
      ?.disabled;
  };
  await expect.poll(isDisabled, { interval: 5 }).not.toBe(false);
  await service.kill();
  await asked;
  await service.restart();
  await expect.poll(isDisabled, { timeout: 30_000, interval: 200 }).toBeUndefined();
  expect(await owned()).toEqual(['admins']);
}, 90_000);
