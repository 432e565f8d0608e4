/** Quotas on real sandboxes: what is used is counted, and what would be too much is refused and changes nothing. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { mustAct, type Person, person } from '../support/people.ts';
import { call, must, type Service, startService } from '../support/service.ts';

const SIZE = { cpu: 1, memory_gb: 1, disk_gb: 1 };

let service: Service;
let made = 0;
let ada: Person;

beforeAll(async () => {
  // With a pool, since what is taken from it counts too.
  service = await startService({ flags: ['--warm-pool', '1', '--quota-sandboxes', '3'] });
}, 120_000);

beforeEach(async () => {
  ada = await person(service, `Ada${++made}`);
});

afterAll(() => service?.stop());

async function quota(limits: Record<string, unknown>): Promise<void> {
  await mustAct(service, 'UpdateUser', { user: ada.email, ...limits });
}

async function usage(): Promise<unknown> {
  const { users } = (await mustAct(ada, 'ListUsers')) as { users: { usage: unknown }[] };
  return users[0]?.usage;
}

const exhausted = (detail: string) => ({ status: 429, body: { code: 'resource_exhausted', detail } });

describe('a quota', () => {
  it('[WIRE-BOX-22] [WIRE-ERR-14] lets as many of several creations at once pass as there is room for', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => call(ada, 'CreateSandbox', { ...SIZE })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429, 429]);
    expect(answers.find(({ status }) => status === 429)).toMatchObject(
      exhausted('The quota is 3 sandboxes: 3 are used, 0 are left, and 1 more were asked for.'),
    );
    expect(await usage()).toMatchObject({ sandboxes: { used: 3, limit: 3, left: 0 }, cpu: { used: 3 } });
    const { sandboxes } = (await must(ada, 'ListSandboxes')) as { sandboxes: { id: string }[] };
    await must(ada, 'DeleteSandbox', { sandbox: sandboxes[0]?.id });
    expect((await call(ada, 'CreateSandbox', { ...SIZE })).status).toBe(200);
  });

  it('counts what is claimed from the pool, at the size that it gets', async () => {
    await quota({ quota_cpu: 5 });
    await must(ada, 'CreateSandbox', { cpu: 4 });
    expect(await usage()).toMatchObject({
      ...{ cpu: { used: 4, left: 1 }, memory: { used: 4 }, disk: { used: 20 } },
    });
    expect(await call(ada, 'CreateSandbox')).toMatchObject({ status: 429 });
    expect(await must(ada, 'CreateSandbox', SIZE)).toMatchObject({ state: 'started' });
  });

  it('of cpu and memory is given back by a stop, and asked for again by a start', async () => {
    await quota({ quota_memory_gb: 1 });
    await must(ada, 'CreateSandbox', { name: 'one', ...SIZE });
    await must(ada, 'StopSandbox', { sandbox: 'one' });
    await must(ada, 'CreateSandbox', { name: 'two', ...SIZE });
    expect(await call(ada, 'StartSandbox', { sandbox: 'one' })).toMatchObject(
      exhausted(
        'The quota is 1 GB of memory of running sandboxes: 1 are used, 0 are left, and 1 more were asked for.',
      ),
    );
    expect(await must(ada, 'GetSandbox', { sandbox: 'one' })).toMatchObject({ state: 'stopped' });
    await must(ada, 'StopSandbox', { sandbox: 'two' });
    expect(await must(ada, 'StartSandbox', { sandbox: 'one' })).toMatchObject({ state: 'started' });
  });

  it('of disk is kept by what is stopped or archived, which still starts when there is no room for more', async () => {
    await quota({ quota_disk_gb: 2 });
    await must(ada, 'CreateSandbox', { name: 'one', ...SIZE });
    await must(ada, 'CreateSandbox', { name: 'two', ...SIZE });
    await must(ada, 'StopSandbox', { sandbox: 'one' });
    await must(ada, 'ArchiveSandbox', { sandbox: 'one' });
    expect((await call(ada, 'CreateSandbox', SIZE)).status).toBe(429);
    await quota({ quota_disk_gb: 1 });
    expect(await usage()).toMatchObject({ disk: { used: 2, limit: 1, left: 0 } });
    expect(await must(ada, 'StartSandbox', { sandbox: 'one' })).toMatchObject({ state: 'started' });
  });

  it('refuses a resize beyond it, whole', async () => {
    await quota({ quota_cpu: 2 });
    await must(ada, 'CreateSandbox', { name: 'one', ...SIZE });
    expect((await call(ada, 'ResizeSandbox', { sandbox: 'one', cpu: 3, memory_gb: 2 })).status).toBe(429);
    expect(await must(ada, 'GetSandbox', { sandbox: 'one' })).toMatchObject({
      resources: { cpu: 1, memory: 1 },
    });
    expect((await call(ada, 'ResizeSandbox', { sandbox: 'one', cpu: 2, memory_gb: 2 })).status).toBe(200);
    await quota({ quota_cpu: -1 });
    expect((await call(ada, 'ResizeSandbox', { sandbox: 'one', cpu: 3 })).status).toBe(200);
  });

  it('of snapshots refuses one more', async () => {
    await quota({ quota_snapshots: 1 });
    const image = '127.0.0.1:1/nothing:1';
    await must(ada, 'CreateSnapshot', { name: 'one', image });
    expect(await call(ada, 'CreateSnapshot', { name: 'two', image })).toMatchObject(
      exhausted('The quota is 1 snapshots: 1 are used, 0 are left, and 1 more were asked for.'),
    );
    expect((await must(ada, 'ListSnapshots'))['total_count']).toBe(2);
  });

  it('refuses before an image is pulled when it is used up', async () => {
    await quota({ quota_sandboxes: 0 });
    const { body } = await call(ada, 'CreateSandbox', { image: '127.0.0.1:1/nothing:1', ...SIZE });
    expect(body).toMatchObject({ code: 'resource_exhausted' });
  });
});
