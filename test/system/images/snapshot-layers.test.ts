/** Snapshots of images whose layers lie on this machine: kept over a kill, given up with their snapshot, collected. */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RawRegistry, startRawRegistry } from '../../images/registry/raw-registry.ts';
import { tarGz } from '../../images/tar.ts';
import { act } from '../../support/people.ts';
import { call, must, type Service, startService } from '../../support/service.ts';

const PATIENCE = { timeout: 60_000 };

let raw: RawRegistry;
let service: Service;

beforeAll(async () => {
  raw = await startRawRegistry();
  service = await startService({
    flags: ['--image-kept-minutes', '0', '--registry-allow', `all,${raw.address}`],
  });
}, 120_000);

afterAll(async () => {
  await service?.stop();
  await raw?.close();
});

const create = (parameters: Record<string, unknown>) => call(service, 'CreateSnapshot', parameters);
const get = async (snapshot: unknown) => (await call(service, 'GetSnapshot', { snapshot })).body;
const becomes = (snapshot: unknown, state: string) =>
  expect.poll(async () => (await get(snapshot))['state'], PATIENCE).toBe(state);

describe('a service that ends while a snapshot is made', () => {
  it.each(['terminate', 'kill'] as const)(
    'by %s: its successor finishes it, with the layers that were there',
    async (how) => {
      const name = `half-${how}`;
      const layers = ['a', 'b'].map((name) => tarGz([{ name, content: randomBytes(100_000) }]));
      const [first = '', second = ''] = raw.put(name, { layers });
      raw.trouble = ({ digest }) => (digest === second ? 'hang' : null);
      await create({ name, image: `${raw.address}/${name}:1` });
      const blob = join(service.dataDir, 'images/blobs/sha256', first.slice(7));
      await expect.poll(() => existsSync(blob), PATIENCE).toBe(true);
      expect(await get(name)).toMatchObject({ state: 'pulling' });
      await service[how]();
      raw.trouble = () => null;
      await service.restart();
      await becomes(name, 'active');
      expect(raw.sent.get(first)).toBe(1);
    },
    120_000,
  );
});

it('one that is deleted while it is made leaves no work behind', async () => {
  const [layer = ''] = raw.put('never', {
    layers: [tarGz([{ name: 'a', content: randomBytes(100_000) }])],
  });
  raw.trouble = ({ digest }) => (digest === layer ? 'hang' : null);
  await create({ name: 'never', image: `${raw.address}/never:1` });
  await becomes('never', 'pulling');
  expect((await act(service, 'DeleteSnapshot', { snapshot: 'never' })).status).toBe(200);
  raw.trouble = () => null;
  expect((await get('never'))['code']).toBe('not_found');
  const work = () => readdirSync(join(service.dataDir, 'images/tmp'));
  await expect.poll(work, PATIENCE).toEqual([]);
}, 120_000);

describe('images', () => {
  it('that are here make sandboxes while their registry is away', async () => {
    raw.put('kept', { layers: [tarGz([{ name: 'kept', content: 'kept' }])] });
    const image = `${raw.address}/kept:1`;
    await must(service, 'CreateSandbox', { name: 'first', image, disk_gb: 1 });
    raw.trouble = () => 'drop';
    await must(service, 'CreateSandbox', { name: 'offline', image, disk_gb: 1 });
    raw.trouble = () => null;
    for (const sandbox of ['first', 'offline']) await must(service, 'DeleteSandbox', { sandbox });
  }, 60_000);

  it('are collected when nothing uses them, and those of snapshots and of sandboxes are not', async () => {
    for (const name of ['unused', 'stopped']) {
      raw.put(name, { layers: [tarGz([{ name, content: name }])] });
      await must(service, 'CreateSandbox', { name, image: `${raw.address}/${name}:1`, disk_gb: 1 });
      await must(service, 'StopSandbox', { sandbox: name });
    }
    const here = () =>
      readdirSync(join(service.dataDir, 'images')).filter(
        (name) => name.length === 64 && existsSync(join(service.dataDir, 'images', name, 'rootfs', 'unused')),
      ).length;
    expect(here()).toBe(1);
    await must(service, 'DeleteSandbox', { sandbox: 'unused' });
    await service.restart();
    await expect.poll(here, PATIENCE).toBe(0);
    await must(service, 'StartSandbox', { sandbox: 'stopped' });
    for (const snapshot of ['half-terminate', 'half-kill']) {
      const { id } = await must(service, 'CreateSandbox', { snapshot });
      await must(service, 'DeleteSandbox', { sandbox: id });
    }
    await must(service, 'DeleteSandbox', { sandbox: 'stopped' });
  }, 120_000);
});
