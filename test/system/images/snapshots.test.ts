import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RawRegistry, startRawRegistry } from '../../images/registry/raw-registry.ts';
import { type Registry, startRegistry } from '../../images/registry/registry.ts';
import { shellLayer } from '../../images/shell-image.ts';
import { tarGz } from '../../images/tar.ts';
import { act, mustAct } from '../../support/people.ts';
import { call, must, type Service, startService } from '../../support/service.ts';

const PATIENCE = { timeout: 60_000 };
const small = { cpu: 1, memory: 1, disk: 1 };

let registry: Registry;
let raw: RawRegistry;
let service: Service;
/** Of the image that one can work in. */
let image: string;

beforeAll(async () => {
  registry = await startRegistry();
  raw = await startRawRegistry();
  await registry.push('shell:1', { layers: [shellLayer], config: ['--config.entrypoint', '/none/such'] });
  image = `${registry.address}/shell:1`;
  service = await startService({
    flags: ['--image-kept-minutes', '0', '--registry-allow', `all,${registry.address},${raw.address}`],
  });
}, 120_000);

afterAll(async () => {
  await service?.stop();
  await raw?.close();
  await registry?.remove();
});

const create = (parameters: Record<string, unknown>, headers = {}) =>
  call(service, 'CreateSnapshot', parameters, headers);
const get = async (snapshot: unknown) => (await call(service, 'GetSnapshot', { snapshot })).body;

async function becomes(snapshot: unknown, state: string): Promise<Record<string, unknown>> {
  await expect.poll(async () => (await get(snapshot))['state'], PATIENCE).toBe(state);
  return get(snapshot);
}

describe('a snapshot', () => {
  it('[SBX-SNAP-01, SBX-SNAP-05, SBX-SNAP-06, WIRE-SNAP-01, WIRE-SNAP-02, WIRE-SNAP-03] is pending at once and active when its image is here', async () => {
    const { status, body } = await create({ name: 'plain', image });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: expect.stringMatching(/^snap_[0-9a-z]{16}$/),
      name: 'plain',
      state: 'pending',
      image,
      entrypoint: null,
      resources: { cpu: 2, memory: 4, disk: 20, gpu: 0 },
      region_id: 'local',
      size_bytes: null,
    });
    const active = await becomes(body['id'], 'active');
    expect(active).toMatchObject({ name: 'plain', size_bytes: expect.any(Number) });
    expect(active).not.toHaveProperty('state_reason');
    expect(Date.parse(String(active['updated_at']))).toBeGreaterThan(
      Date.parse(String(active['created_at'])),
    );
    expect(await get('plain')).toEqual(active);
  }, 120_000);

  it('[SBX-CREATE-09, SBX-CREATE-17, SBX-SNAP-02, SBX-SNAP-03, WIRE-BOX-08, WIRE-BOX-19, WIRE-SNAP-06] gives a sandbox its sizes, and its entrypoint at every start', async () => {
    const entrypoint = [
      '/bin/sh',
      '-c',
      'echo "run $1" >>/workspace/log; exec env sleep 1000',
      'sh',
      'one two',
    ];
    const { body } = await create({
      name: 'with entry',
      image,
      entrypoint,
      resources: small,
      region_id: 'local',
    });
    expect(body).toMatchObject({ entrypoint, resources: { ...small, gpu: 0 } });
    await becomes('with entry', 'active');
    const sandbox = await must(service, 'CreateSandbox', { snapshot: body['id'], cpu: 9, disk_gb: 50 });
    expect(sandbox).toMatchObject({
      state: 'started',
      snapshot: 'with entry',
      image,
      resources: { ...small, gpu: 0 },
    });
    const log = async () =>
      (await call(service, 'ReadFile', { sandbox: sandbox['id'], path: 'log' })).body['content'];
    await expect.poll(log, PATIENCE).toBe('run one two\n');
    await must(service, 'StopSandbox', { sandbox: sandbox['id'] });
    await must(service, 'StartSandbox', { sandbox: sandbox['id'] });
    await expect.poll(log, PATIENCE).toBe('run one two\nrun one two\n');
    await must(service, 'DeleteSandbox', { sandbox: sandbox['id'] });
    expect((await call(service, 'CreateSandbox', { snapshot: 'with entry', cpu: 17 })).body).toMatchObject({
      code: 'invalid_argument',
      parameter: 'cpu',
    });
  }, 120_000);

  it('[SBX-SNAP-07, SBX-SNAP-08, SBX-SNAP-09, WIRE-SNAP-08, WIRE-BOX-20] is listed newest first, the base image last of all', async () => {
    const all = await must(service, 'ListSnapshots');
    expect(all).toMatchObject({ page: 1, page_size: 20, total_pages: 1, total_count: 3 });
    const names = (body: Record<string, unknown>) =>
      (body['snapshots'] as Record<string, unknown>[]).map(({ name }) => name);
    expect(names(all)).toEqual(['with entry', 'plain', 'base']);
    expect(names(await must(service, 'ListSnapshots', { page_size: 2 }))).toEqual(['with entry', 'plain']);
    const second = await must(service, 'ListSnapshots', { page_size: 2, page: 2 });
    expect(second).toMatchObject({ total_count: 3, total_pages: 2 });
    expect(names(second)).toEqual(['base']);
    expect(names(await must(service, 'ListSnapshots', { page_size: 2, page: 3 }))).toEqual([]);
    expect(names(await must(service, 'ListSnapshots', { page_size: 3, page: 2 }))).toEqual([]);
    const base = await get('base');
    expect(base).toMatchObject({ state: 'active', image: 'base', size_bytes: expect.any(Number) });
    expect(await get(base['id'])).toEqual(base);
    for (const snapshot of ['base', base['id']]) {
      const made = await must(service, 'CreateSandbox', { snapshot, disk_gb: 1 });
      expect(made).toMatchObject({ snapshot: 'base', image: 'base', resources: { disk: 20 } });
      await must(service, 'DeleteSandbox', { sandbox: made['id'] });
    }
    expect((await create({ name: 'base', image })).body).toMatchObject({
      code: 'already_exists',
      parameter: 'name',
    });
  }, 120_000);

  it('may be of the base image, with sizes and an entrypoint of its own', async () => {
    await create({ name: 'own base', image: 'base', entrypoint: ['sleep', '1234'], resources: small });
    await becomes('own base', 'active');
    const { id } = await must(service, 'CreateSandbox', { snapshot: 'own base' });
    const count = async () =>
      (await call(service, 'RunCommand', { sandbox: id, command: 'pgrep -fc "^sleep 1234"' })).body['stdout'];
    await expect.poll(count, PATIENCE).toBe('1\n');
    await must(service, 'DeleteSandbox', { sandbox: id });
  }, 120_000);

  it('[WIRE-SNAP-02, WIRE-SNAP-04, WIRE-SNAP-05] in error shows the reason, makes no sandbox, and is replaced', async () => {
    const gone = `${raw.address}/comes-later:1`;
    const first = await create({ name: 'late', image: gone });
    const failed = await becomes('late', 'error');
    expect(failed['state_reason']).toContain(`There is no image ${gone}`);
    const made = await call(service, 'CreateSandbox', { snapshot: 'late' });
    expect(made.body).toMatchObject({ code: 'invalid_state', parameter: 'snapshot' });
    expect(made.body['detail']).toContain(`There is no image ${gone}`);
    expect((await create({ name: 'plain', image })).body).toMatchObject({
      code: 'already_exists',
      parameter: 'name',
    });

    raw.put('comes-later', { layers: [tarGz([{ name: 'a', content: 'x' }])] });
    const second = await create({ name: 'late', image: gone });
    expect(second.body['id']).not.toBe(first.body['id']);
    await becomes('late', 'active');
    expect(await get(first.body['id'])).toMatchObject({ code: 'not_found', resource: 'snapshot' });
  }, 120_000);

  it('[SBX-SNAP-04] is refused before anything is stored: image, region, unknown resources', async () => {
    for (const [given, expected] of [
      [{ image: 'UPPER/case' }, { code: 'invalid_argument', parameter: 'image' }],
      [{ image: 'oci:/etc' }, { code: 'invalid_argument', parameter: 'image' }],
      [
        { region_id: 'moon' },
        { code: 'invalid_argument', parameter: 'region_id', detail: expect.stringContaining("'local'") },
      ],
      [{ resources: { ram: 1 } }, { code: 'invalid_argument', parameter: 'resources.ram' }],
    ] as const) {
      expect((await create({ name: 'refused', image, ...given })).body).toMatchObject(expected);
    }
    expect(await get('refused')).toMatchObject({ code: 'not_found' });
    expect((await call(service, 'CreateSandbox', { snapshot: 'refused' })).body).toMatchObject({
      code: 'not_found',
      resource: 'snapshot',
    });
  });

  it('[WIRE-HTTP-10] is made once under one Idempotency-Key', async () => {
    const again = () => create({ name: 'once', image }, { 'idempotency-key': 'snapshot-1' });
    const first = await again();
    await becomes('once', 'active');
    expect((await again()).body).toEqual(first.body);
    expect((await create({ name: 'other', image }, { 'idempotency-key': 'snapshot-1' })).body).toMatchObject({
      code: 'invalid_argument',
    });
  }, 120_000);
});

describe('a snapshot that is deleted', () => {
  const remove = (snapshot: unknown) => act(service, 'DeleteSnapshot', { snapshot });

  /** By time: of two replicas, each stores what it has noted within a moment, and the order is that of storing. */
  async function outcomes(): Promise<unknown[]> {
    const { rows } = await mustAct(service, 'ListAudit', { action: 'DeleteSnapshot' });
    const byTime = (rows as { time: string; outcome: string }[]).toSorted((a, b) =>
      a.time.localeCompare(b.time),
    );
    return byTime.map(({ outcome }) => outcome);
  }

  it('is gone, with its name and its place in the quota, and a sandbox made from it goes on', async () => {
    const entrypoint = ['/bin/sh', '-c', 'echo ran >>/workspace/log'];
    await create({ name: 'to delete', image, entrypoint, resources: small });
    const { id } = await becomes('to delete', 'active');
    const { id: sandbox } = await must(service, 'CreateSandbox', { snapshot: id });
    const log = async () => (await call(service, 'ReadFile', { sandbox, path: 'log' })).body['content'];
    await expect.poll(log, PATIENCE).toBe('ran\n');
    const before = (await must(service, 'ListSnapshots'))['total_count'];

    expect(await remove('to delete')).toMatchObject({
      status: 200,
      body: { id, name: 'to delete', deleted: true },
    });
    expect(await remove(id)).toMatchObject({
      status: 404,
      body: { code: 'not_found', resource: 'snapshot' },
    });
    expect(await must(service, 'ListSnapshots')).toMatchObject({ total_count: Number(before) - 1 });
    await expect.poll(outcomes, PATIENCE).toEqual(['ok', 'not_found']);

    // The service keeps no unused image, so this one is in use.
    await must(service, 'StopSandbox', { sandbox });
    await service.restart();
    await must(service, 'StartSandbox', { sandbox });
    await expect.poll(log, PATIENCE).toBe('ran\nran\n');
    expect(await must(service, 'GetSandbox', { sandbox })).toMatchObject({ snapshot: 'to delete' });
    await must(service, 'DeleteSandbox', { sandbox });
    expect((await create({ name: 'to delete', image })).status).toBe(200);
    await becomes('to delete', 'active');
    expect((await remove('to delete')).status).toBe(200);
  }, 120_000);

  it('is not the base image, which is no one’s to delete', async () => {
    const base = await get('base');
    for (const snapshot of ['base', base['id']]) {
      expect((await remove(snapshot)).body).toMatchObject({
        code: 'permission_denied',
        parameter: 'snapshot',
      });
    }
    // As old as its image, which was made before this service, and not in 1970.
    const made = Date.parse(String(base['created_at']));
    expect(made).toBeGreaterThan(Date.UTC(2025, 0, 1));
    expect(made).toBeLessThan(Date.now());
    expect(base['updated_at']).toBe(base['created_at']);
  }, 120_000);
});
