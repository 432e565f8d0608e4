/** Archives of a real service in a real bucket: kept over restarts, outages, kills, damage, and a change of the place. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { folderOnMachine } from '../../src/runtime/archives/s3/own-folder.ts';
import { createS3Place } from '../../src/runtime/archives/s3/s3-place.ts';
import { call, must, type Service, startService } from '../support/service.ts';
import { type FaultyBucket, openFaultyBucket } from './faulty-bucket.ts';
import { credentials } from './s3-server.ts';

const BUCKET = 'archives';
const DAMAGED = 'The archive of the sandbox is damaged or not its own.';

describe('a service with its archives in S3', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sandhaven-s3-system-'));
  let bucket: FaultyBucket;
  let server: FaultyBucket['server'];
  let proxy: FaultyBucket['proxy'];
  let service: Service;
  let withS3: string[];

  const start = async (flags: string[]) => {
    service = await startService({ dataDir, flags: ['--gpu-kind', 'nobody.example/gpu', ...flags] });
  };
  const restart = async (flags: string[]) => {
    await service.terminate();
    await start(flags);
  };

  beforeAll(async () => {
    bucket = await openFaultyBucket(BUCKET);
    ({ server, proxy, flags: withS3 } = bucket);
    await start([...withS3, '--archive-store', `s3://${BUCKET}/team`]);
  }, 120_000);

  afterAll(async () => {
    await service?.stop();
    await bucket?.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  afterEach(async () => {
    proxy.fault = () => null;
    const { sandboxes } = (await must(service, 'ListSandboxes', {})) as { sandboxes: { id: string }[] };
    for (const { id } of sandboxes) await must(service, 'DeleteSandbox', { sandbox: id });
    expect(server.keys(BUCKET)).toEqual([]);
  });

  /** A stopped sandbox with one file of random bytes; returns its name and the file's digest. */
  async function stopped(name: string, megabytes = 1): Promise<{ sandbox: string; digest: string }> {
    await must(service, 'CreateSandbox', { name, cpu: 1, memory_gb: 1, disk_gb: 1 });
    const command = `head -c ${megabytes}M /dev/urandom > kept; sha256sum kept`;
    const { stdout } = await must(service, 'RunCommand', { sandbox: name, command });
    await must(service, 'StopSandbox', { sandbox: name });
    return { sandbox: name, digest: String(stdout) };
  }

  async function digestIn(sandbox: string): Promise<unknown> {
    return (await must(service, 'RunCommand', { sandbox, command: 'sha256sum kept' }))['stdout'];
  }

  const stateOf = async (sandbox: string) => (await must(service, 'GetSandbox', { sandbox }))['state'];
  const localFiles = (id: unknown) =>
    ['disk.img', 'archive.tar.zst', 'archive.tar.zst.partial', 'archive.json'].filter((name) =>
      existsSync(join(dataDir, 'sandboxes', String(id), name)),
    );

  it('[SBX-STATE-05] [SBX-STATE-09] keeps them there over a restart, brings every byte back, and deletes them with their sandbox', async () => {
    const { sandbox, digest } = await stopped('kept');
    const { id } = await must(service, 'ArchiveSandbox', { sandbox });
    expect(localFiles(id)).toEqual(['archive.json']);
    const [key, ...more] = server.keys(BUCKET);
    expect(more).toEqual([]);
    expect(key).toMatch(new RegExp(`^team/[0-9a-z]{6}-[0-9a-f]{8}/${id}/[0-9a-z]{16}\\.tar\\.zst$`));
    await service.restart();
    expect(await stateOf(sandbox)).toBe('archived');
    await must(service, 'StartSandbox', { sandbox });
    expect(await digestIn(sandbox)).toBe(digest);
    expect(localFiles(id)).toEqual(['disk.img']);
    expect(server.keys(BUCKET)).toEqual([]);
    await must(service, 'StopSandbox', { sandbox });
    await must(service, 'ArchiveSandbox', { sandbox });
    expect(server.keys(BUCKET)).toHaveLength(1);
    await must(service, 'DeleteSandbox', { sandbox });
    expect(server.keys(BUCKET)).toEqual([]);
  }, 60_000);

  it('[WIRE-STATE-10] leaves a sandbox stopped, or archived, while the server is away, and a retry works', async () => {
    const { sandbox, digest } = await stopped('patient');
    await server.pause();
    expect(await call(service, 'ArchiveSandbox', { sandbox })).toMatchObject({
      status: 503,
      body: { code: 'unavailable', retryable: true },
    });
    expect(await stateOf(sandbox)).toBe('stopped');
    await server.resume();
    const { id } = await must(service, 'ArchiveSandbox', { sandbox });
    await server.pause();
    expect(await call(service, 'StartSandbox', { sandbox })).toMatchObject({
      status: 503,
      body: { code: 'unavailable', retryable: true },
    });
    expect(await stateOf(sandbox)).toBe('archived');
    expect(localFiles(id)).toEqual(['archive.json']);
    await server.resume();
    await must(service, 'StartSandbox', { sandbox });
    expect(await digestIn(sandbox)).toBe(digest);
  }, 120_000);

  it('makes no disk from a damaged object, and from the same one mended', async () => {
    const { sandbox, digest } = await stopped('damaged');
    await must(service, 'ArchiveSandbox', { sandbox });
    const [key = ''] = server.keys(BUCKET);
    server.damage(BUCKET, key);
    expect(await call(service, 'StartSandbox', { sandbox })).toMatchObject({
      status: 503,
      body: { code: 'unavailable', detail: DAMAGED, retryable: false },
    });
    expect(await stateOf(sandbox)).toBe('error');
    server.damage(BUCKET, key);
    await must(service, 'StartSandbox', { sandbox });
    expect(await digestIn(sandbox)).toBe(digest);
  }, 60_000);

  it('killed in the middle of an upload leaves no half archive, and finishes it at the next start', async () => {
    const { sandbox, digest } = await stopped('killed', 30);
    proxy.fault = ({ url }) => (url?.includes('partNumber=2') ? { kind: 'hang' } : null);
    const seen = proxy.requests.length;
    const archiving = call(service, 'ArchiveSandbox', { sandbox }).catch(() => null);
    await expect
      .poll(() => proxy.requests.slice(seen).some((request) => request.includes('partNumber=2')), {
        timeout: 30_000,
      })
      .toBe(true);
    await service.kill();
    await archiving;
    expect(server.keys(BUCKET)).toEqual([]);
    proxy.fault = () => null;
    await service.restart();
    await expect.poll(() => stateOf(sandbox), { timeout: 30_000 }).toBe('archived');
    expect(server.keys(BUCKET)).toHaveLength(1);
    expect(await unfinished()).toBe(1);
    await ownPlace().sweep(-60_000);
    expect(await unfinished()).toBe(0);
    await must(service, 'StartSandbox', { sandbox });
    expect(await digestIn(sandbox)).toBe(digest);
  }, 120_000);

  it('restores archives from the place that they were written to, whatever the present one', async () => {
    const [old, young] = [await stopped('old'), await stopped('young')];
    const { id: remote } = await must(service, 'ArchiveSandbox', { sandbox: old.sandbox });

    await restart(withS3);
    const { id: local } = await must(service, 'ArchiveSandbox', { sandbox: young.sandbox });
    expect(localFiles(remote)).toEqual(['archive.json']);
    expect(localFiles(local)).toEqual(['archive.tar.zst']);

    await restart([]);
    expect(await call(service, 'StartSandbox', { sandbox: old.sandbox })).toMatchObject({
      status: 503,
      body: { code: 'unavailable', hint: expect.stringContaining('--s3-endpoint') },
    });
    expect(await stateOf(old.sandbox)).toBe('archived');

    await restart([...withS3, '--archive-store', `s3://${BUCKET}/other`]);
    for (const { sandbox, digest } of [old, young]) {
      await must(service, 'StartSandbox', { sandbox });
      expect(await digestIn(sandbox)).toBe(digest);
    }
  }, 120_000);

  it('shows its secret nowhere', () => {
    expect(service.log()).not.toContain(credentials.secretAccessKey);
    expect(readFileSync(`/proc/${service.pid}/cmdline`, 'utf8')).not.toContain(credentials.secretAccessKey);
  });

  function ownPlace() {
    const instance = folderOnMachine(readFileSync(join(dataDir, 'instance'), 'utf8').trim());
    return createS3Place({
      client: server.client,
      folder: { bucket: BUCKET, prefix: 'team' },
      instance,
      close() {},
    });
  }

  async function unfinished(): Promise<number> {
    const { xml } = await server.client.list(BUCKET, { uploads: '' }, undefined);
    return xml.split('<UploadId>').length - 1;
  }
});
