/** Disks in a volume that the engine makes: clones, what outlives the service, what is refused, and that a purge leaves nothing. */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { withXfsprogs } from '../../setup/debian/xfsprogs-programs.ts';
import { launcher } from '../../src/app/engine/engine.ts';
import { examineDisks } from '../../src/runtime/oci/disk/copy-image.ts';
import { openDiskStore, removeDiskStore, unmountDiskStore } from '../../src/runtime/oci/disk/disk-store.ts';
import { diskSpace } from '../../src/runtime/oci/host/room.ts';
import { findOrphans, removeOrphan } from '../../src/runtime/oci/orphans.ts';
import { bin, freeAddresses, makeDataDir, must, type Service, startService } from '../support/service.ts';

const GiB = 1024 ** 3;
const STORE = ['--disk-store', 'xfs', '--disk-store-gb', '16'];
const log = { info() {}, warn() {}, error() {} };
const env = withXfsprogs;

const run = async (on: Service, sandbox: string, command: string) =>
  (await must(on, 'RunCommand', { sandbox, command }))['output'];
const mountsOf = (dataDir: string) =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => line.includes(` ${dataDir}/disks `));
const devicesOf = (dataDir: string) =>
  execFileSync('losetup', ['--list', '--noheadings', '--output', 'NAME,BACK-FILE'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(`${dataDir}/disks.xfs`));
const sizeGb = (dataDir: string) => {
  const text = execFileSync('df', ['--block-size=1', '--output=size', join(dataDir, 'disks')], {
    encoding: 'utf8',
  });
  return Number(text.split('\n')[1]) / GiB;
};
const up = (dataDir: string, flags: string[], { wrapper = [] as string[] } = {}) => {
  const [program = bin, ...args] = [...wrapper, bin, 'up', '--data-dir', dataDir, ...freeAddresses, ...flags];
  return spawnSync(program, args, { encoding: 'utf8', timeout: 60_000, env: { ...process.env, ...env } });
};

describe('a service with --disk-store xfs', () => {
  let service: Service;

  beforeAll(async () => {
    // Of a start that was killed while it formatted.
    const dataDir = await makeDataDir();
    writeFileSync(join(dataDir, 'disks.xfs.partial'), 'half');
    service = await startService({ dataDir, env, flags: STORE });
    await must(service, 'CreateSandbox', { name: 'box', memory_gb: 1, disk_gb: 1 });
    await run(
      service,
      'box',
      'head -c 32M /dev/urandom > random; sha256sum random > sum; sync; sleep 1000 & echo',
    );
  }, 120_000);

  afterAll(async () => {
    await service?.stop();
    if (service) await removeDiskStore(service.dataDir, log);
  }, 120_000);

  it('has a sparse file of its own, mounted without rights, on a loop device with direct I/O', () => {
    const { dataDir } = service;
    const file = statSync(join(dataDir, 'disks.xfs'));
    expect(file.size).toBe(16 * GiB);
    expect(file.blocks * 512).toBeLessThan(GiB);
    expect(existsSync(join(dataDir, 'disks.xfs.partial'))).toBe(false);
    expect(existsSync(join(dataDir, 'sandboxes'))).toBe(false);
    expect(mountsOf(dataDir)).toEqual([
      expect.stringMatching(/ rw,nosuid,nodev,noexec,noatime.* - xfs \/dev\/loop\d+ rw.*,discard/),
    ]);
    const device = devicesOf(dataDir).map((line) => line.split(' ')[0]?.replace('/dev/', ''));
    expect(device).toHaveLength(1);
    expect(readFileSync(`/sys/block/${device[0]}/loop/dio`, 'utf8')).toBe('1\n');
    // A sandbox that had the device before bounded it.
    expect(Number(readFileSync(`/sys/block/${device[0]}/queue/nr_requests`, 'utf8'))).toBe(128);
  });

  it('has a device for all sandboxes, also while others bound those that come next for one', async () => {
    const dataDir = await makeDataDir();
    vi.stubEnv('PATH', env.PATH);
    const ended = new AbortController();
    onTestFinished(async () => {
      ended.abort();
      vi.unstubAllEnvs();
      await removeDiskStore(dataDir, log);
    });
    const bounding = (async () => {
      while (!ended.signal.aborted) await promisify(execFile)(launcher(), ['ready-loop-devices', '4']);
    })();
    for (let round = 0; round < 20; round++) {
      await openDiskStore(dataDir, launcher(), { kind: 'xfs', sizeGb: 16 });
      const [device] = devicesOf(dataDir).map((line) => line.split(' ')[0]?.replace('/dev/', ''));
      // A bound that was set at the same time would be here by now.
      await sleep(100);
      expect(readFileSync(`/sys/block/${device}/queue/nr_requests`, 'utf8')).toBe('128\n');
      await unmountDiskStore(dataDir);
    }
    ended.abort();
    await bounding;
  }, 60_000);

  it('copies disks as clones, of which nobody changes another', async () => {
    await must(service, 'SnapshotSandbox', { sandbox: 'box', name: 'point' });
    const { sandboxes } = await must(service, 'ForkSandbox', { sandbox: 'box', count: 2, name: 'way' });
    for (const { id } of sandboxes as { id: string }[]) {
      const disk = join(service.dataDir, 'disks/sandboxes', id, 'disk.img');
      expect(execFileSync('filefrag', ['-v', disk], { encoding: 'utf8' })).toContain('shared');
    }
    await run(service, 'way-1', 'head -c 8M /dev/zero > random');
    await must(service, 'CreateSandbox', { name: 'made', snapshot: 'point' });
    for (const name of ['box', 'way-2', 'made'])
      expect(await run(service, name, 'sha256sum --check --quiet sum && echo same')).toBe('same\n');
    for (const sandbox of ['way-1', 'way-2', 'made']) await must(service, 'DeleteSandbox', { sandbox });
  }, 60_000);

  it('leaves the volume mounted for its machines, and finds it again after a stop and a kill', async () => {
    await service.restart();
    expect(await run(service, 'box', 'pgrep -c sleep')).toBe('1\n');
    await service.kill();
    expect(mountsOf(service.dataDir)).toHaveLength(1);
    await service.restart();
    expect(await run(service, 'box', 'pgrep -c sleep; sha256sum --check --quiet sum && echo same')).toBe(
      '1\nsame\n',
    );
    expect(mountsOf(service.dataDir)).toHaveLength(1);
    expect(devicesOf(service.dataDir)).toHaveLength(1);
  }, 120_000);

  it('mounts an attached volume once more, as in a mount namespace that does not have it', async () => {
    await service.terminate();
    const [device] = devicesOf(service.dataDir);
    execFileSync('umount', ['--lazy', join(service.dataDir, 'disks')]);
    await service.restart();
    // The machine's disk, open all the time, keeps the device.
    expect(devicesOf(service.dataDir)).toEqual([device]);
    expect(await run(service, 'box', 'pgrep -c sleep')).toBe('1\n');
    await must(service, 'ForkSandbox', { sandbox: 'box', name: 'later' });
    await must(service, 'DeleteSandbox', { sandbox: 'later' });
  }, 120_000);

  it('refuses to become smaller, grows, and finishes a growth that was killed', async () => {
    const { dataDir } = service;
    await service.terminate();
    // Between the two steps of a growth.
    truncateSync(join(dataDir, 'disks.xfs'), 24 * GiB);
    const smaller = up(dataDir, ['--disk-store-gb', '20']);
    expect(smaller.stderr).toContain('The volume of disks has 24 GB, and cannot become smaller');
    expect(smaller.stderr).toContain('Give --disk-store-gb 24 or more, or leave it out.');
    expect(sizeGb(dataDir)).toBeLessThan(16.1);
    const other = await startService({ dataDir, env });
    expect(sizeGb(dataDir)).toBeGreaterThan(23);
    await other.terminate();
    const larger = await startService({ dataDir, env, flags: ['--disk-store-gb', '32'] });
    expect(sizeGb(dataDir)).toBeGreaterThan(31);
    expect(await run(larger, 'box', 'pgrep -c sleep')).toBe('1\n');
    await larger.terminate();
  }, 120_000);

  it('is purged without a mount, a loop device or a file', async () => {
    const { dataDir } = service;
    const purged = spawnSync(bin, ['purge', '--data-dir', dataDir, '--yes'], { encoding: 'utf8' });
    expect(purged).toMatchObject({ status: 0 });
    expect(mountsOf(dataDir)).toEqual([]);
    expect(devicesOf(dataDir)).toEqual([]);
    expect(existsSync(join(dataDir, 'disks.xfs'))).toBe(false);
    expect(existsSync(join(dataDir, 'disks'))).toBe(false);
  }, 60_000);
});

it('a volume whose data directory was deleted goes with the orphan', async () => {
  const service = await startService({ env, flags: STORE });
  const { dataDir } = service;
  onTestFinished(async () => {
    await removeDiskStore(dataDir, log);
    rmSync(dataDir, { recursive: true, force: true });
  });
  const instance = readFileSync(join(dataDir, 'instance'), 'utf8').trim();
  await must(service, 'CreateSandbox', { name: 'left', disk_gb: 1 });
  await service.kill();
  // The mount point alone stays.
  spawnSync('rm', ['-rf', dataDir]);
  expect(mountsOf(dataDir)).toHaveLength(1);
  const orphan = (await findOrphans()).find((found) => found.instance === instance);
  expect(orphan).toEqual({ instance, dataDir, machines: 1 });
  await removeOrphan({ instance }, launcher(), log);
  expect(mountsOf(dataDir)).toEqual([]);
  expect(devicesOf(dataDir)).toEqual([]);
}, 120_000);

it('the room of a volume is the less of its own and that of the disk below it', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sandhaven-small-host-'));
  vi.stubEnv('PATH', env.PATH);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1G', 'tmpfs', dataDir]);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await removeDiskStore(dataDir, log);
    execFileSync('umount', [dataDir]);
    rmSync(dataDir, { recursive: true });
  });
  const before = await examineDisks(dataDir);
  expect(before).toMatchObject({ folder: dataDir, clones: false });
  await openDiskStore(dataDir, launcher(), { kind: 'xfs', sizeGb: 16 });
  const after = await examineDisks(dataDir);
  expect(after).toMatchObject({ folder: join(dataDir, 'disks'), clones: true });
  expect(after.freeBytes).toBeGreaterThan(0.8 * GiB);
  expect(after.freeBytes).toBeLessThan(GiB);
  expect((await diskSpace(join(dataDir, 'disks'))).totalBytes).toBe(GiB);
  // Deleted bytes go back to the disk below.
  const file = join(dataDir, 'disks/file');
  execFileSync('dd', ['if=/dev/urandom', `of=${file}`, 'bs=1M', 'count=300', 'conv=fsync', 'status=none']);
  expect((await examineDisks(dataDir)).freeBytes).toBeLessThan(0.65 * GiB);
  rmSync(file);
  await vi.waitFor(async () => {
    execFileSync('sync', ['--file-system', join(dataDir, 'disks')]);
    expect((await examineDisks(dataDir)).freeBytes).toBeGreaterThan(0.8 * GiB);
  }, 10_000);
}, 60_000);

describe('--disk-store xfs is refused', () => {
  let dataDir: string;
  beforeAll(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'sandhaven-refused-store-'));
  });
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

  it('where disks lie outside of a volume already, with a way to bring them into one', () => {
    mkdirSync(join(dataDir, 'sandboxes/sb_0000000000000000'), { recursive: true });
    const { status, stderr } = up(dataDir, STORE);
    rmSync(join(dataDir, 'sandboxes'), { recursive: true });
    expect(status).toBe(5);
    expect(stderr).toContain(`${dataDir} has disks of sandboxes already, which lie outside of a volume.`);
    expect(stderr).toContain(
      `restore it into a new data directory: sandhaven restore DIR --disk-store xfs --key-file ${dataDir}/secret.key --data-dir NEW.`,
    );
    expect(existsSync(join(dataDir, 'disks.xfs'))).toBe(false);
  });

  it('on a machine without xfsprogs, by what to install', () => {
    const hidden =
      'cd "$(mktemp -d)"; mkdir all some; mount -t tmpfs some some; mount --bind /usr/sbin all; ' +
      'for path in all/*; do ln -s "$PWD/$path" some/; done; rm -f some/mkfs.xfs; mount --bind some /usr/sbin; exec "$@"';
    const namespace = ['unshare', '--mount', '--propagation', 'private', 'sh', '-euc', hidden, 'sh'];
    const { status, stderr } = up(dataDir, STORE, {
      wrapper: [...namespace, 'env', 'PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin'],
    });
    expect(status).toBe(5);
    expect(stderr).toContain('The program mkfs.xfs is not on this machine.');
    expect(stderr).toContain('On Debian and Ubuntu: apt install xfsprogs.');
    expect(existsSync(join(dataDir, 'disks.xfs'))).toBe(false);
    expect(mountsOf(dataDir)).toEqual([]);
  });

  it('as a size without a volume', () => {
    const { status, stderr } = up(dataDir, ['--disk-store-gb', '16']);
    expect(status).toBe(5);
    expect(stderr).toContain('There is no volume of disks that --disk-store-gb could size.');
  });
});
