/** Archives of disks of a real cluster, in a real S3 server: what comes back, and what is left when something fails. */
import { readFileSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { MachineSpec } from '../../../src/control/ports/index.ts';
import { newSandboxId } from '../../../src/model/ids.ts';
import { type Cluster, startCluster } from '../cluster.ts';
import { pushImage } from '../images.ts';
import { PODS } from '../pods.ts';
import { type ArchiveStore, storeFor } from './archive-store.ts';
import { type KubernetesHost, type KubernetesRuntime, openHost, sh, tracesOf } from './host.ts';

const FILL = readFileSync(join(import.meta.dirname, '../../agent-link/carrier/fill-disk.py'), 'utf8');
const LIST = readFileSync(join(import.meta.dirname, '../../agent-link/carrier/list-disk.py'), 'utf8');

let cluster: Cluster;
let store: ArchiveStore;
let host: KubernetesHost;
let runtime: KubernetesRuntime;
/** On the disk, as the whole root is. */
const KEPT = '/workspace';
const made = new Set<string>();

beforeAll(async () => {
  cluster = await startCluster({ nodes: 2 });
  store = await storeFor(cluster);
  const base = realpathSync(join(homedir(), '.cache/sandhaven/base/current'));
  const image = pushImage(cluster.registry, 'base:1', join(base, 'rootfs'), {});
  host = await openHost(cluster, { image, remoteArchives: store.open });
  runtime = await host.open();
}, 200_000);
afterEach(async () => {
  await store.s3.start();
  for (const id of made) await runtime.destroy(id);
  made.clear();
}, 120_000);
afterAll(async () => {
  await runtime?.close();
  await cluster?.stop();
});

async function stopped(script: string): Promise<MachineSpec> {
  const id = newSandboxId();
  made.add(id);
  const machine = { id, imageDigest: 'base', resources: { cpu: 1, memory: 1, disk: 1, gpu: 0 } };
  await runtime.start(machine, 1);
  await sh(runtime, id, `cd ${KEPT} && ${script}`);
  await runtime.stop(id, 0);
  return machine;
}

const observed = async (id: string) => (await runtime.observe()).find((one) => one.id === id) ?? null;
const python = (id: string, program: string) =>
  sh(runtime, id, `python3 - ${KEPT} <<'PROGRAM'\n${program}\nPROGRAM`);
/** Resolves when the carrier of this sandbox has an address. */
const carrierOf = (id: string) =>
  cluster.api.until(
    `${PODS}/sandbox-${id.replace('_', '-')}`,
    (pod) => pod.metadata?.annotations?.['sandhaven.dev/carrier'] && pod.status?.podIP,
    30_000,
  );

const MUCH = 'head -c 300000000 /dev/urandom >random && sha256sum random >sum';
const CHECK = `cd ${KEPT} && sha256sum -c sum`;

it('an archive brings back everything that a disk can have', { timeout: 200_000 }, async () => {
  const machine = await stopped('true');
  const { id } = machine;
  await runtime.start(machine, 2);
  await python(id, FILL);
  // Names of the image that are hidden: by a whiteout, and by an opaque folder.
  await sh(runtime, id, 'rm /etc/issue; rm -r /opt && mkdir /opt && touch /opt/new');
  const outside = 'ls /etc/issue; ls -a /opt; stat -c "%a %u %g %y" /opt /opt/new';
  const outsideBefore = await sh(runtime, id, `${outside}; true`);
  const before = JSON.parse(await python(id, LIST));
  expect(before.sparse).toMatchObject({ size: 10 * 2 ** 30 });
  expect(Object.keys(before.file.xattrs)).toEqual(['security.capability', 'user.name']);
  await runtime.stop(id, 500);
  const record = await runtime.archive(id, 3);
  expect(record.sizeBytes).toBeLessThan(2 ** 20);
  await runtime.dropDisk(id);
  expect((await tracesOf(cluster, id)).join()).toMatch(/^configmaps\/sandbox-sb-[0-9a-z]+-archive$/);
  await runtime.restore(machine, 4, record);
  await runtime.start(machine, 4);
  expect(JSON.parse(await python(id, LIST))).toEqual(before);
  expect(await sh(runtime, id, `${outside}; true`)).toBe(outsideBefore);
  await runtime.dropArchive(id);
  expect(store.keysOf(id)).toEqual([]);
  await runtime.destroy(id);
  expect(await tracesOf(cluster, id)).toEqual([]);
});

it('a store that goes away in the midst leaves the disk, and may be tried again', {
  timeout: 200_000,
}, async () => {
  const machine = await stopped(MUCH);
  const { id } = machine;
  const archiving = runtime.archive(id, 2).catch((error: unknown) => error);
  await carrierOf(id);
  await store.s3.kill();
  expect(await archiving).toMatchObject({ code: 'unavailable', fields: { retryable: true } });
  expect(await observed(id)).toMatchObject({ runningGeneration: null, hasDisk: true, hasArchive: false });
  await store.s3.start();
  const record = await runtime.archive(id, 3);
  await runtime.dropDisk(id);
  await store.s3.kill();
  await expect(runtime.restore(machine, 4, record)).rejects.toMatchObject({
    code: 'unavailable',
    fields: { retryable: true },
  });
  expect(await observed(id)).toMatchObject({ hasDisk: false, hasArchive: true });
  await store.s3.start();
  await runtime.restore(machine, 5, record);
  await runtime.start(machine, 5);
  expect(await sh(runtime, id, CHECK)).toBe('random: OK');
});

it('a service that is killed in the midst has its work repeated by the next', {
  timeout: 250_000,
}, async () => {
  const machine = await stopped(MUCH);
  const { id } = machine;
  const first = await host.open();
  const archiving = first.archive(id, 2).catch((error: unknown) => error);
  await carrierOf(id);
  first.kill();
  expect(await observed(id)).toMatchObject({ runningGeneration: null, hasDisk: true });
  const record = await runtime.archive(id, 3);
  expect(await archiving).toBeInstanceOf(Error);
  await runtime.dropDisk(id);

  const second = await host.open();
  const restoring = second.restore(machine, 4, record).catch((error: unknown) => error);
  await carrierOf(id);
  second.kill();
  expect(await observed(id)).toMatchObject({ runningGeneration: null, hasDisk: false, hasArchive: true });
  await expect(runtime.start(machine, 5)).rejects.toMatchObject({ code: 'unavailable' });
  await runtime.restore(machine, 6, record);
  expect(await restoring).toBeInstanceOf(Error);
  await runtime.start(machine, 6);
  expect(await sh(runtime, id, CHECK)).toBe('random: OK');
  await Promise.all([first.close(), second.close()]);
});

it('an attempt that comes late changes nothing of a newer generation', { timeout: 120_000 }, async () => {
  const machine = await stopped('echo first >file');
  const { id } = machine;
  const record = await runtime.archive(id, 2);
  await runtime.start(machine, 4);
  await sh(runtime, id, `echo second >${KEPT}/file`);
  const refused = { code: 'unavailable' };
  await expect(runtime.restore(machine, 3, record)).rejects.toMatchObject(refused);
  expect(await sh(runtime, id, `cat ${KEPT}/file`)).toBe('second');
  await runtime.stop(id, 500);
  await expect(runtime.restore(machine, 3, record)).rejects.toMatchObject(refused);
  await expect(runtime.archive(id, 3)).rejects.toMatchObject(refused);
  await runtime.start(machine, 5);
  expect(await sh(runtime, id, `cat ${KEPT}/file`)).toBe('second');
});

it('a carrier is no machine: nothing runs in it, and a start takes its place', {
  timeout: 120_000,
}, async () => {
  const machine = await stopped(MUCH);
  const { id } = machine;
  const killed = await host.open();
  const archiving = killed.archive(id, 2).catch((error: unknown) => error);
  await carrierOf(id);
  killed.kill();
  await expect(runtime.openChannel(id)).rejects.toMatchObject({ code: 'unavailable' });
  await runtime.start(machine, 3);
  expect(await sh(runtime, id, CHECK)).toBe('random: OK');
  expect(await archiving).toBeInstanceOf(Error);
  await killed.close();
});
