/** A sandbox that writes much leaves others' writes quick: it has little in the disk's queue, and little unflushed. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Person, person } from '../support/people.ts';
import { must, type Service, startService } from '../support/service.ts';

let service: Service;
let alice: Person;
let sandbox: string;

beforeAll(async () => {
  service = await startService();
  alice = await person(service, 'Alice');
  sandbox = String((await must(alice, 'CreateSandbox', { disk_gb: 2 }))['id']);
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

describe('the volatile cache of the host’s disk', () => {
  const disk = diskOf(tmpdir());

  it.runIf(disk !== null)(
    'is flushed at least every 32 MiB that a sandbox writes, though the sandbox never syncs',
    async () => {
      const flushes = await flushesDuring(write512Mb);
      // Other programs flush the same disk now and then; the commits of the sandbox's own file system, once a second.
      expect(flushes).toBeGreaterThanOrEqual(16);
    },
    60_000,
  );

  it.runIf(disk !== null)(
    'is not flushed again and again while nobody writes',
    async () => {
      await sleep(3_000);
      expect(await flushesDuring(() => sleep(2_000))).toBeLessThan(16);
    },
    60_000,
  );

  it.runIf(disk !== null)(
    'is flushed by a new process when the first has ended, and by none after the service',
    async () => {
      const [first] = flushers();
      process.kill(Number(first), 'SIGKILL');
      await vi.waitFor(() => expect(flushers().filter((pid) => pid !== first)).toHaveLength(1), 20_000);
      await service.kill();
      await vi.waitFor(() => expect(flushers()).toEqual([]), 5_000);
      await service.restart();
    },
    60_000,
  );

  async function flushesDuring(work: () => Promise<unknown>): Promise<number> {
    const before = flushesOf(disk as string);
    await work();
    return flushesOf(disk as string) - before;
  }
});

function write512Mb(): Promise<unknown> {
  const command = 'dd if=/dev/zero of=/workspace/big bs=1M count=512 oflag=direct';
  return must(alice, 'RunCommand', { sandbox, command, timeout_seconds: 30 });
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
