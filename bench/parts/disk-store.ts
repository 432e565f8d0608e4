/**
 * Measures copies of disks in the data directory as it is, and in a volume of the engine's (`--disk-store xfs`), by turns: the
 * snapshot of a running sandbox, with the pause that a program inside sees; a start from a snapshot beside one from the base image;
 * forks until all have answered; synced writes inside.
 *
 * bench/parts/disk-store.ts [--rounds N] [--forks N] [--only snapshot|start|fork|fsync]… [--flags "…"]
 *
 * In front of a data directory of /var/tmp. Forks of the data directory are as many as its disk has room for.
 */
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { withXfsprogs } from '../../setup/debian/xfsprogs-programs.ts';
import { must, type Service, startService } from '../../test/support/service.ts';
import { summarize } from '../base/statistics.ts';

const SIZE = { cpu: 1, memory_gb: 1, disk_gb: 5, auto_stop_minutes: 0 };
const GIB = 1024 ** 3;
const SETTLE_MS = 5_000;

interface Side {
  name: string;
  service: Service;
}

type Tool = (name: string, parameters: Record<string, unknown>) => Promise<Record<string, unknown>>;

const toolOf =
  (service: Service): Tool =>
  (name, parameters) =>
    must(service, name, parameters);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '20' },
      forks: { type: 'string', default: '100' },
      only: { type: 'string', multiple: true },
      flags: { type: 'string', default: '' },
    },
  });
  const has = (part: string): boolean => values.only?.includes(part) ?? true;
  const rounds = Number(values.rounds);
  const folder = await mkdtemp('/var/tmp/sandhaven-bench-');
  const sides: Side[] = [];
  try {
    for (const [name, flags] of [
      ['data directory', []],
      ['volume', ['--disk-store', 'xfs']],
    ] as const) {
      const all = ['--disk-overcommit', '1000', ...flags, ...values.flags.split(' ').filter(Boolean)];
      const dataDir = join(folder, name.replace(' ', '-'));
      sides.push({ name, service: await startService({ dataDir, flags: all, env: withXfsprogs }) });
    }
    if (has('snapshot') || has('start')) await snapshots(sides, rounds, has('start'));
    if (has('fsync')) await syncedWrites(sides, rounds);
    if (has('fork')) {
      // The volume first: what the other side deletes keeps the disk busy for a while.
      for (const side of sides.toReversed()) await forks(side, Number(values.forks), folder);
    }
  } finally {
    for (const { service } of sides) await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A sandbox with so much of random bytes, which no file system makes smaller. */
async function withChanges(tool: Tool, name: string, megabytes: number): Promise<void> {
  await tool('CreateSandbox', { name, ...SIZE });
  await run(tool, name, `head -c ${megabytes}M /dev/urandom > changes; sync`);
}

async function run(tool: Tool, sandbox: string, command: string): Promise<string> {
  const { exit_code: code, output } = await tool('RunCommand', { sandbox, command, timeout_seconds: 600 });
  if (code !== 0) throw new Error(`${command}: exit status ${code}: ${output}`);
  return String(output);
}

/** Prints its longest time between two turns, in milliseconds, once the file is there. */
const WATCH = `python3 -c '
import os, time
worst, last = 0, time.monotonic()
while not os.path.exists("/tmp/over"):
    time.sleep(0.0005); now = time.monotonic(); worst = max(worst, now - last); last = now
print(worst * 1000)'; rm /tmp/over`;

async function snapshots(sides: Side[], rounds: number, withStarts: boolean): Promise<void> {
  const times = new Map(
    sides.map(({ name }) => [name, { call: [], pause: [], calm: [], start: [], base: [] } as Times]),
  );
  for (const { service } of sides) await withChanges(toolOf(service), 'source', 1_024);
  for (let round = 0; round < rounds; round++) {
    for (const { name, service } of round % 2 ? sides.toReversed() : sides) {
      const tool = toolOf(service);
      const of = times.get(name) as Times;
      of.calm.push(await watched(tool, () => pause(300)));
      of.pause.push(
        await watched(tool, async () => {
          of.call.push(await timed(() => tool('SnapshotSandbox', { sandbox: 'source', name: `s${round}` })));
        }),
      );
      if (withStarts) {
        for (const kind of round % 4 < 2 ? (['start', 'base'] as const) : (['base', 'start'] as const)) {
          const made = kind === 'start' ? { snapshot: `s${round}`, auto_stop_minutes: 0 } : SIZE;
          of[kind].push(await timed(() => tool('CreateSandbox', { name: 'made', ...made })));
          await tool('DeleteSandbox', { sandbox: 'made' });
        }
      }
      await remove(service, `s${round}`);
    }
  }
  for (const [name, of] of times) {
    print(name, 'snapshot of 1 GB, the call', of.call);
    print(name, 'the pause inside', of.pause);
    print(name, 'the same without a snapshot', of.calm);
    if (withStarts) print(name, 'start from the snapshot', of.start);
    if (withStarts) print(name, 'start from the base image', of.base);
  }
  for (const { service } of sides) await must(service, 'DeleteSandbox', { sandbox: 'source' });
}

interface Times {
  call: number[];
  pause: number[];
  calm: number[];
  start: number[];
  base: number[];
}

/** Returns the longest pause inside while the work was done. */
async function watched(tool: Tool, work: () => Promise<unknown>): Promise<number> {
  const worst = run(tool, 'source', WATCH);
  await pause(300);
  await work();
  await run(tool, 'source', 'touch /tmp/over');
  return Number(await worst);
}

async function forks({ name, service }: Side, most: number, folder: string): Promise<void> {
  const tool = toolOf(service);
  await withChanges(tool, 'source', 2_048);
  // What was written has reached the host's disk.
  await pause(SETTLE_MS);
  const { bavail, bsize } = await statfs(folder);
  // Copies are whole ones in the data directory.
  const room = Math.floor((bavail * bsize - 16 * GIB) / (2.3 * GIB));
  const count = name === 'volume' ? most : Math.min(most, room);
  const before = await free(folder);
  let forked: { id: string }[] = [];
  const until = await timed(async () => {
    forked = (await tool('ForkSandbox', { sandbox: 'source', count, name: 'way' }))[
      'sandboxes'
    ] as typeof forked;
  });
  const answered = await timed(() => Promise.all(forked.map(({ id }) => run(tool, id, 'true'))));
  const bytes = before - (await free(folder));
  console.log(
    `${name}: 1 → ${forked.length} with 2 GB: ${(until / 1_000).toFixed(2)} s until started, ` +
      `${((until + answered) / 1_000).toFixed(2)} s until all have answered; ${(bytes / GIB).toFixed(2)} GiB of the host taken`,
  );
  for (const { id } of forked) await tool('DeleteSandbox', { sandbox: id });
  await tool('DeleteSandbox', { sandbox: 'source' });
}

/** Each round overwrites 4 KiB of a file at random, and appends 4 KiB to one, with an fsync each, for a second. */
const SYNCED = `python3 -c '
import os, random, time
data = os.urandom(4096)
def rate(write):
    count, end = 0, time.monotonic() + 1
    while time.monotonic() < end: write(); os.fsync(fd); count += 1
    return count
fd = os.open("over", os.O_RDWR | os.O_CREAT)
if os.fstat(fd).st_size == 0: os.write(fd, os.urandom(64 << 20)); os.fsync(fd)
over = rate(lambda: os.pwrite(fd, data, random.randrange(16384) * 4096))
fd = os.open("append", os.O_RDWR | os.O_CREAT | os.O_APPEND)
print(over, rate(lambda: os.write(fd, data)))'`;

async function syncedWrites(sides: Side[], rounds: number): Promise<void> {
  const rates = new Map(sides.map(({ name }) => [name, { over: [] as number[], append: [] as number[] }]));
  for (const { service } of sides) await must(service, 'CreateSandbox', { name: 'synced', ...SIZE });
  for (let round = 0; round < rounds; round++) {
    for (const { name, service } of round % 2 ? sides.toReversed() : sides) {
      const [over, append] = (await run(toolOf(service), 'synced', SYNCED)).split(' ').map(Number);
      rates.get(name)?.over.push(over ?? Number.NaN);
      rates.get(name)?.append.push(append ?? Number.NaN);
    }
  }
  for (const [name, { over, append }] of rates) {
    const [first, second] = [summarize(over), summarize(append)];
    console.log(
      `${name}: fsync a second, median (best): overwritten ${first.median} (${first.max}), appended ${second.median} (${second.max})`,
    );
  }
  for (const { service } of sides) await must(service, 'DeleteSandbox', { sandbox: 'synced' });
}

async function remove(service: Service, snapshot: string): Promise<void> {
  await fetch(`${service.url}/v1/admin/DeleteSnapshot`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ snapshot }),
  });
}

async function free(folder: string): Promise<number> {
  const { bfree, bsize } = await statfs(folder);
  return bfree * bsize;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function print(side: string, what: string, samples: number[]): void {
  const { median, p95, min, max } = summarize(samples);
  const shown = [median, p95, min, max].map((ms) => ms.toFixed(1));
  console.log(
    `${side}: ${what}: p50 ${shown[0]} ms, p95 ${shown[1]} ms, from ${shown[2]} to ${shown[3]} (${samples.length})`,
  );
}

await main();
