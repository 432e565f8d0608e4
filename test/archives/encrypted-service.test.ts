/** Encrypted archives of a real service, in a real bucket and on this host: switched on and off, damaged, swapped, killed. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sandhaven } from '../backup/cli.ts';
import { call, must, type Service, startService } from '../support/service.ts';
import { type FaultyBucket, openFaultyBucket } from './faulty-bucket.ts';

const BUCKET = 'archives';
const ENCRYPTED = 'sandhaven archive 1\n';
const ZSTD = '28b52ffd';
const TO_BUCKET = ['--archive-store', `s3://${BUCKET}/team`];
const DAMAGED = 'The archive of the sandbox is damaged or not its own.';

describe('a service that encrypts its archives', () => {
  const work = mkdtempSync(join(tmpdir(), 'sandhaven-encrypted-'));
  const dataDir = join(work, 'data');
  let bucket: FaultyBucket;
  let server: FaultyBucket['server'];
  let proxy: FaultyBucket['proxy'];
  let service: Service;
  let withS3: string[];

  const start = (flags: string[], folder = dataDir) =>
    startService({ dataDir: folder, flags: ['--gpu-kind', 'nobody.example/gpu', ...withS3, ...flags] });
  const restart = async (flags: string[]) => {
    await service.terminate();
    service = await start(flags);
  };

  beforeAll(async () => {
    bucket = await openFaultyBucket(BUCKET);
    ({ server, proxy, flags: withS3 } = bucket);
    service = await start([...TO_BUCKET, '--archive-encryption', 'yes']);
  }, 300_000);

  afterAll(async () => {
    await service?.stop();
    await bucket?.close();
    rmSync(work, { recursive: true, force: true });
  }, 300_000);

  afterEach(async () => {
    proxy.fault = () => null;
    const { sandboxes } = (await must(service, 'ListSandboxes', {})) as { sandboxes: { id: string }[] };
    for (const { id } of sandboxes) await must(service, 'DeleteSandbox', { sandbox: id });
    expect(server.keys(BUCKET)).toEqual([]);
  });

  /** An archived sandbox with one file of random bytes; returns its id, the file's digest, and the keys of new objects. */
  async function archived(name: string): Promise<{ id: string; digest: unknown; keys: string[] }> {
    const { id, digest } = await stopped(name);
    const before = server.keys(BUCKET);
    await must(service, 'ArchiveSandbox', { sandbox: name });
    return { id, digest, keys: server.keys(BUCKET).filter((key) => !before.includes(key)) };
  }

  async function stopped(name: string, megabytes = 1): Promise<{ id: string; digest: unknown }> {
    const { id } = await must(service, 'CreateSandbox', { name, cpu: 1, memory_gb: 1, disk_gb: 1 });
    const command = `head -c ${megabytes}M /dev/urandom > kept; sha256sum kept`;
    const { stdout } = await must(service, 'RunCommand', { sandbox: name, command });
    await must(service, 'StopSandbox', { sandbox: name });
    return { id: String(id), digest: stdout };
  }

  async function digestAfterStart(of: Service, sandbox: string): Promise<unknown> {
    await must(of, 'StartSandbox', { sandbox });
    return (await must(of, 'RunCommand', { sandbox, command: 'sha256sum kept' }))['stdout'];
  }

  const stateOf = async (sandbox: string) => (await must(service, 'GetSandbox', { sandbox }))['state'];
  const object = (key = '') => readFileSync(join(server.folder(BUCKET), key));
  const begins = (bytes: Buffer) => bytes.subarray(0, ENCRYPTED.length).toString('latin1');
  const localFiles = (id: string) =>
    readdirSync(join(dataDir, 'sandboxes', id)).filter((name) => /^(archive|disk)/.test(name));

  it('keeps only encrypted bytes in the bucket, and brings every byte back', async () => {
    const { id, digest, keys } = await archived('kept');
    expect(keys).toHaveLength(1);
    expect(begins(object(keys[0]))).toBe(ENCRYPTED);
    expect(object(keys[0]).includes(Buffer.from(ZSTD, 'hex'))).toBe(false);
    expect(localFiles(id)).toEqual(['archive.json']);
    await service.restart();
    expect(await digestAfterStart(service, 'kept')).toBe(digest);
    expect(localFiles(id)).toEqual(['disk.img']);
  }, 300_000);

  it('keeps only encrypted bytes on this host', async () => {
    await restart(['--archive-encryption', 'yes']);
    const { id, digest } = await archived('here');
    expect(localFiles(id)).toEqual(['archive.tar.zst']);
    const file = join(dataDir, 'sandboxes', id, 'archive.tar.zst');
    expect(begins(readFileSync(file))).toBe(ENCRYPTED);
    expect(await digestAfterStart(service, 'here')).toBe(digest);
    expect(localFiles(id)).toEqual(['disk.img']);
  }, 300_000);

  it('reads plain archives of before, and encrypted ones once it encrypts no more', async () => {
    await restart(TO_BUCKET);
    const plain = await archived('plain');
    expect(object(plain.keys[0]).subarray(0, 4).toString('hex')).toBe(ZSTD);
    await restart([...TO_BUCKET, '--archive-encryption', 'yes']);
    const encrypted = await archived('encrypted');
    expect(begins(object(encrypted.keys[0]))).toBe(ENCRYPTED);
    expect(await digestAfterStart(service, 'plain')).toBe(plain.digest);
    await restart(TO_BUCKET);
    expect(await digestAfterStart(service, 'encrypted')).toBe(encrypted.digest);
    await restart([...TO_BUCKET, '--archive-encryption', 'yes']);
  }, 300_000);

  it('makes no disk from a damaged object, or from that of another sandbox, and from the right one again', async () => {
    const [one, two] = [await archived('one'), await archived('two')];
    const [first = '', second = ''] = [one.keys[0], two.keys[0]];
    const refused = { status: 503, body: { code: 'unavailable', detail: DAMAGED, retryable: false } };
    server.damage(BUCKET, first);
    expect(await call(service, 'StartSandbox', { sandbox: 'one' })).toMatchObject(refused);
    server.damage(BUCKET, first);
    const [kept, other] = [object(first), object(second)];
    writeFileSync(join(server.folder(BUCKET), first), other);
    expect(await call(service, 'StartSandbox', { sandbox: 'one' })).toMatchObject(refused);
    expect(localFiles(one.id)).toEqual(['archive.json']);
    writeFileSync(join(server.folder(BUCKET), first), kept);
    expect(await digestAfterStart(service, 'one')).toBe(one.digest);
    expect(await digestAfterStart(service, 'two')).toBe(two.digest);
  }, 300_000);

  it('leaves a sandbox archived whose archive has another key, and names what is missing', async () => {
    const { id, digest } = await archived('foreign');
    const rename = async (keyId: string) => {
      await service.terminate();
      await service.changeStore(
        `UPDATE sandboxes SET archive = json_set(archive, '$.keyId', '${keyId}') WHERE id = '${id}'`,
      );
      service = await start([...TO_BUCKET, '--archive-encryption', 'yes']);
    };
    const own = /"keyId":"([0-9a-f]{16})"/.exec(await service.storeText())?.[1] ?? '';
    await rename('fedcba9876543210');
    expect(await call(service, 'StartSandbox', { sandbox: 'foreign' })).toMatchObject({
      status: 503,
      body: {
        code: 'unavailable',
        detail: 'The archive of the sandbox is encrypted with another key.',
        hint: expect.stringContaining('secret.key'),
      },
    });
    expect(await stateOf('foreign')).toBe('archived');
    await rename(own);
    expect(await digestAfterStart(service, 'foreign')).toBe(digest);
  }, 300_000);

  it('killed in the middle of an upload leaves nothing plain, and finishes it at the next start', async () => {
    const { id, digest } = await stopped('killed', 60);
    proxy.fault = ({ url }) => (url?.includes('partNumber=2') ? { kind: 'hang' } : null);
    const seen = proxy.requests.length;
    const archiving = call(service, 'ArchiveSandbox', { sandbox: 'killed' }).catch(() => null);
    const isSending = () => proxy.requests.slice(seen).some((request) => request.includes('partNumber=2'));
    await expect.poll(isSending, { timeout: 60_000 }).toBe(true);
    await service.kill();
    await archiving;
    expect(localFiles(id)).toEqual(['archive.json', 'archive.tar.zst.partial', 'disk.img']);
    proxy.fault = () => null;
    await service.restart();
    await expect.poll(() => stateOf('killed'), { timeout: 60_000 }).toBe('archived');
    // The disk goes after the state has changed.
    await expect.poll(() => localFiles(id)).toEqual(['archive.json']);
    expect(await digestAfterStart(service, 'killed')).toBe(digest);
  }, 300_000);

  it('reads its archives after a restore from a backup with the same secret key', async () => {
    const { digest } = await archived('moved');
    const [backup, moved] = [join(work, 'backup'), join(work, 'moved')];
    expect((await sandhaven(['backup', backup, '--data-dir', dataDir])).status).toBe(0);
    const keyFile = join(dataDir, 'secret.key');
    const args = ['restore', backup, '--key-file', keyFile, '--data-dir', moved];
    expect((await sandhaven(args)).status).toBe(0);
    expect(existsSync(join(moved, 'secret.key'))).toBe(true);
    const other = await start([], moved);
    try {
      expect(await digestAfterStart(other, 'moved')).toBe(digest);
    } finally {
      await other.stop();
    }
  }, 600_000);

  it('shows its keys nowhere', () => {
    const key = readFileSync(join(dataDir, 'secret.key'));
    for (const text of [service.log(), readFileSync(`/proc/${service.pid}/cmdline`, 'latin1')])
      for (const encoding of ['hex', 'base64', 'latin1'] as const)
        expect(text).not.toContain(key.toString(encoding));
  });
});
