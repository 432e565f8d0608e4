/** Backups of disks in a volume, and the way into one for a data directory that has disks already: a backup, restored with --disk-store xfs. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withXfsprogs } from '../../setup/debian/xfsprogs-programs.ts';
import { removeDiskStore } from '../../src/runtime/oci/disk/disk-store.ts';
import { bin, must, type Service, startService } from '../support/service.ts';
import { pushSmallImage, type SmallImage } from './small-image.ts';

const work = mkdtempSync(join(tmpdir(), 'sandhaven-store-backup-'));
const [inVolume, outside] = [join(work, 'volume'), join(work, 'outside')];
const env = withXfsprogs;
let pushed: SmallImage;

beforeAll(async () => {
  pushed = await pushSmallImage();
});

afterAll(async () => {
  await pushed?.registry.remove();
  await removeDiskStore(inVolume, { warn() {} });
  rmSync(work, { recursive: true, force: true });
});

const output = async (of: Service, sandbox: string, command: string) =>
  (await must(of, 'RunCommand', { sandbox, command }))['stdout'];

async function check(service: Service): Promise<void> {
  for (const sandbox of ['stopped', 'archived']) {
    await must(service, 'StartSandbox', { sandbox });
    expect(await output(service, sandbox, 'sha256sum -c sum')).toBe('kept: OK\n');
  }
  await must(service, 'CreateSandbox', { name: 'made', snapshot: 'point' });
  expect(await output(service, 'made', 'sha256sum -c sum')).toBe('kept: OK\n');
  await must(service, 'DeleteSandbox', { sandbox: 'made' });
}

it('disks, snapshots and archives come from the data directory into a volume, and out of it', async () => {
  const service = await startService({ flags: pushed.flags });
  try {
    const size = { image: pushed.image, cpu: 1, memory_gb: 1, disk_gb: 1 };
    for (const name of ['stopped', 'archived']) {
      await must(service, 'CreateSandbox', { name, ...size });
      await output(service, name, 'head -c 2M /dev/urandom > kept; sha256sum kept > sum');
      if (name === 'stopped') await must(service, 'SnapshotSandbox', { sandbox: name, name: 'point' });
      await must(service, 'StopSandbox', { sandbox: name });
    }
    await must(service, 'ArchiveSandbox', { sandbox: 'archived' });
    moved(service.dataDir, inVolume, ['--disk-store', 'xfs', '--disk-store-gb', '16']);
  } finally {
    await service.stop();
  }
  expect(existsSync(join(inVolume, 'disks.xfs'))).toBe(true);
  const within = await startService({ dataDir: inVolume, env, flags: pushed.flags });
  try {
    await check(within);
    moved(inVolume, outside, []);
  } finally {
    await within.stop();
  }
  const without = await startService({ dataDir: outside, flags: pushed.flags });
  try {
    expect(existsSync(join(outside, 'disks.xfs'))).toBe(false);
    await check(without);
  } finally {
    await without.stop();
  }
}, 300_000);

function moved(from: string, to: string, flags: string[]): void {
  const folder = join(work, `backup-of-${to === inVolume ? 'folder' : 'volume'}`);
  for (const args of [
    ['backup', folder, '--with-keys', '--data-dir', from],
    ['restore', folder, '--data-dir', to, ...flags],
  ]) {
    const { status, stderr } = spawnSync(bin, args, { encoding: 'utf8', env: { ...process.env, ...env } });
    expect(status, stderr).toBe(0);
  }
}
