/** A sandbox that writes much leaves others' writes quick: it has little in the disk's queue, and little unflushed. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { launcherPath } from '../runtime/host.ts';
import { type Person, person } from '../support/people.ts';
import { must, type Service, startService } from '../support/service.ts';

let service: Service;
let alice: Person;
let sandbox: string;
const hostDisk = diskOf(tmpdir());
/** The flusher of the host's disk, which is killed at once: the next comes five seconds later, while other tests run. */
let first: string | undefined;

beforeAll(async () => {
  service = await startService();
  alice = await person(service, 'Alice');
  sandbox = String((await must(alice, 'CreateSandbox', { disk_gb: 2 }))['id']);
  if (hostDisk === null) return;
  [first] = flushers();
  process.kill(Number(first), 'SIGKILL');
}, 60_000);

afterAll(() => service?.stop());

describe('the queue of the host’s disk', () => {
  it('has at most 16 requests of a sandbox at once, of at most 128 KiB each', () => {
    const image = join(service.dataDir, 'sandboxes', sandbox, 'disk.img');
    const device = readdirSync('/sys/block').find((name) => backing(name) === image);
    expect(device).toMatch(/^loop\d+$/);
    expect(Number(readFileSync(`/sys/block/${device}/queue/max_sectors_kb`, 'utf8'))).toBe(128);
    expect(Number(readFileSync(`/sys/block/${device}/queue/nr_requests`, 'utf8'))).toBe(16);
  });
});

/** A disk of its own, whose flushes nobody else makes. */
describe('a disk that nobody syncs', () => {
  let disk: LoopDisk;
  beforeAll(() => {
    disk = loopDisk(service.dataDir);
  });
  afterAll(() => disk?.remove());

  it('is flushed every 32 MiB that are written to it, and not while nobody writes', async () => {
    const flusher = spawn(launcherPath, ['flush-early', disk.idle], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void flusher.kill());
    for (let round = 0; round < 4; round++) {
      const before = disk.flushes();
      disk.write32MiB();
      await expect.poll(() => disk.flushes(), { interval: 2 }).toBeGreaterThan(before);
    }
    // What is left below the bound stays unflushed.
    const before = disk.flushes();
    await sleep(2_000);
    expect(disk.flushes()).toBeLessThanOrEqual(before + 1);
    expect([flusher.exitCode, flusher.signalCode]).toEqual([null, null]);
  }, 60_000);
});

describe('the volatile cache of the host’s disk', () => {
  it.runIf(hostDisk !== null)(
    'is flushed by a new process when the first has ended, and by none after the service',
    async () => {
      await vi.waitFor(() => expect(flushers().filter((pid) => pid !== first)).toHaveLength(1), 20_000);
      await service.kill();
      await vi.waitFor(() => expect(flushers()).toEqual([]), 5_000);
      await service.restart();
    },
    60_000,
  );
});

interface LoopDisk {
  /** A folder on it in which nothing changes. */
  idle: string;
  flushes(): number;
  /** Past the cache of the host, and without a sync. */
  write32MiB(): void;
  remove(): void;
}

/** Without a journal, whose commits are flushes, too. */
function loopDisk(folder: string): LoopDisk {
  const [image, mounted] = [join(folder, 'flushed.img'), join(folder, 'flushed')];
  const run = (command: string, ...args: string[]) => execFileSync(command, args, { encoding: 'utf8' });
  run('truncate', '--size=256M', image);
  run('mkfs.ext4', '-q', '-O', '^has_journal', image);
  mkdirSync(mounted);
  const device = run('losetup', '--find', '--show', image).trim();
  run('mount', '-o', 'noatime', device, mounted);
  const idle = join(mounted, 'idle');
  mkdirSync(idle);
  const file = join(mounted, 'written');
  run('fallocate', '--length', '32M', file);
  run('sync', '--file-system', mounted);
  return {
    idle,
    flushes: () => flushesOf(`/sys/block/${basename(device)}`),
    write32MiB() {
      run(
        'dd',
        'if=/dev/zero',
        `of=${file}`,
        'bs=1M',
        'count=32',
        'oflag=direct',
        'conv=notrunc',
        'status=none',
      );
    },
    remove() {
      run('umount', mounted);
      run('losetup', '--detach', device);
    },
  };
}

/** Processes that flush the disk for this service. */
function flushers(): string[] {
  const command = `flush-early\0${join(service.dataDir, 'agents')}\0`;
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').endsWith(command);
    } catch {
      return false;
    }
  });
}

/** The file behind a loop device. */
function backing(device: string): string | null {
  const file = `/sys/block/${device}/loop/backing_file`;
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : null;
}

/**
 * The kernel's folder of the disk that a folder lies on; null where it is no single disk, or has no volatile cache. A
 * partition's queue, and the count of its flushes, are those of its disk.
 */
function diskOf(folder: string): string | null {
  const { dev } = statSync(folder);
  const device = `/sys/dev/block/${(dev >> 8) & 0xfff}:${(dev & 0xff) | ((dev >> 12) & 0xfff00)}`;
  const cache = ['queue/write_cache', '../queue/write_cache']
    .map((file) => `${device}/${file}`)
    .find((file) => existsSync(file));
  if (!cache || readFileSync(cache, 'utf8').trim() !== 'write back') return null;
  return dirname(dirname(cache));
}

/** Flushes that the disk has made. Source: Documentation/block/stat.rst of the kernel. */
function flushesOf(disk: string): number {
  return Number(readFileSync(join(disk, 'stat'), 'utf8').trim().split(/\s+/)[15]);
}
