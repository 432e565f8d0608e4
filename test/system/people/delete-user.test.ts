/** A user who is deleted, with real sandboxes: nothing of theirs is left, also when the process is killed in between. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { act, mustAct, person } from '../../support/people.ts';
import { call, must, type Service, startService } from '../../support/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService({ flags: ['--admins-read-inside', 'yes'] });
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

it('leaves sandboxes to an heir, running as they were, without what opened them and their secrets', async () => {
  const [mia, noa] = [await person(service, 'Mia'), await person(service, 'Noa')];
  await must(service, 'CreateSandbox', { name: 'mine', ...SIZE });
  await mustAct(mia, 'CreateSecret', {
    ...{ name: 'api', variable: 'API', value: 'worth-much', targets: ['https://example.org'] },
  });
  await must(mia, 'CreateSandbox', { name: 'lab', ...SIZE, secrets: ['api'] });
  await must(mia, 'RunCommand', {
    sandbox: 'lab',
    command: 'echo kept > /root/note; sleep 600 >/dev/null 2>&1 &',
  });
  await must(mia, 'CreateSshAccess', { sandbox: 'lab' });
  const deleted = await mustAct(service, 'DeleteUser', { user: mia.email, to: noa.email, yes: true });
  expect(deleted).toMatchObject({ deleted: true, sandboxes: 1, secrets: 1 });
  const lab = await must(noa, 'GetSandbox', { sandbox: 'lab' });
  expect(lab).toMatchObject({ state: 'started', secrets: [] });
  expect(
    await must(noa, 'RunCommand', { sandbox: 'lab', command: 'cat /root/note; pgrep -c sleep' }),
  ).toMatchObject({ stdout: 'kept\n1\n' });
  expect(await mustAct(noa, 'RevokeAccess', { sandbox: 'lab' })).toMatchObject({ ssh: 0 });
  await must(noa, 'StopSandbox', { sandbox: 'lab' });
  await must(noa, 'StartSandbox', { sandbox: 'lab' });
  expect(
    await must(noa, 'RunCommand', { sandbox: 'lab', command: 'cat /root/note; echo $API' }),
  ).toMatchObject({
    stdout: 'kept\n\n',
  });
  await must(noa, 'DeleteSandbox', { sandbox: 'lab' });
  await must(service, 'DeleteSandbox', { sandbox: 'mine' });
}, 90_000);

it('gives the rest after a kill', async () => {
  const [pia, uma] = [await person(service, 'Pia'), await person(service, 'Uma')];
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (const name of names) await must(pia, 'CreateSandbox', { name, ...SIZE });
  const asked = act(service, 'DeleteUser', { user: pia.email, to: uma.email, yes: true }).catch(
    () => 'killed',
  );
  const users = async () =>
    (await mustAct(service, 'ListUsers'))['users'] as { email: string; disabled: boolean }[];
  const isDisabled = async () => (await users()).find(({ email }) => email === pia.email)?.disabled;
  await expect.poll(isDisabled, { interval: 5 }).not.toBe(false);
  await service.kill();
  await asked;
  await service.restart();
  await expect.poll(isDisabled, { timeout: 30_000, interval: 200 }).toBeUndefined();
  const heir = { ...uma, url: service.url };
  const { sandboxes } = await must(heir, 'ListSandboxes', {});
  expect((sandboxes as { name: string }[]).map(({ name }) => name).sort()).toEqual(names);
  for (const name of names) await must(heir, 'DeleteSandbox', { sandbox: name });
}, 120_000);

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
