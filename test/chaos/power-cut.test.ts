/**
 * Power cuts of a sandbox's disk. Everything that the disk is told is recorded, below the loop device; a cut is
 * what was flushed until a moment, and of what came since any part that a disk's cache may have kept.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inPart } from '../deep/parts.ts';
import { givenSeed, randomFrom } from '../support/random.ts';
import { must, type Service, startService } from '../support/service.ts';
import { type Cut, check, filesOn, makeDisk, released, survivals } from './power-cut/disk.ts';
import { type Fault, judge } from './power-cut/judge.ts';
import { decodeEntries, type Entry } from './power-cut/log.ts';
import { type Histories, writeFiles, writeUnsynced } from './power-cut/workload.ts';

/** Each of what a disk's cache may keep at least once. */
const ROUNDS = inPart('kills') ? 100 : 4;
/** Longer than ext4's own interval of commits, so that its default would show. */
const DEFAULT_MS = inPart('kills') ? 8_000 : 6_000;
const DURABLE_MS = inPart('kills') ? 3_000 : 2_000;
/** Nothing is written, and nothing that was may get lost any more. */
const QUIET_MS = inPart('kills') ? 4_000 : 3_000;
const SHOWN = 20;
const MOUNTED_WITHIN_MS = 10_000;

const kinds: Fault[] = ['empty', 'torn', 'lost', 'older'];

const seed = givenSeed();
const random = randomFrom(seed);
const folder = mkdtempSync(join(tmpdir(), 'sandhaven-power-cut-'));
const base = join(folder, 'base.img');

let service: Service;
let image = '';
let recorder: ChildProcess | null = null;
let entries: Entry[] = [];
let histories: Histories = new Map();
/** Of the entries' clock, while files were written, and a while longer. */
const time = { from: 0n, to: 0n };

beforeAll(async () => {
  service = await startService();
  const { id } = await must(service, 'CreateSandbox', { name: 'cut', disk_gb: 1 });
  await must(service, 'StopSandbox', { sandbox: 'cut' });
  image = join(service.dataDir, 'sandboxes', String(id), 'disk.img');
  await released(image);
  // Without its holes, each copy of it would be a gigabyte that is read and written.
  spawnSync('cp', ['--sparse=always', image, base]);
  await check(base);
  await record(() => work(String(id)));
}, 180_000);

afterAll(async () => {
  spawnSync('umount', ['-l', image]);
  recorder?.kill('SIGKILL');
  await service?.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe(`power cuts (seed ${seed})`, () => {
  it('leave no acknowledged file empty or torn, and lose none that asked not to be or is two seconds old', async () => {
    const faults: { round: number; cut: string; name: string; fault: Fault }[] = [];
    let kept = 0;
    let longestLost = 0n;
    let unsynced = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const cut = randomCut(round);
      const found = await after(cut);
      const verdict = judge(histories, found, cut.at);
      const told = `${Number((cut.at - time.from) / 1_000_000n)} ms, kept of the cache: ${cut.survival}`;
      faults.push(...verdict.faults.map((fault) => ({ round, cut: told, ...fault })));
      kept += verdict.kept;
      if (verdict.longestLost > longestLost) longestLost = verdict.longestLost;
      unsynced += [...found].filter(
        ([name, content]) => name.startsWith('unsynced') && content === '',
      ).length;
    }
    console.info(
      `${ROUNDS} cuts, ${histories.size} files, ${kept} times whole and newest; ` +
        `lost at most ${longestLost / 1_000_000n} ms after the answer; ` +
        `${unsynced} times empty that a program did not sync; faults: ` +
        JSON.stringify(
          Object.fromEntries(
            kinds.map((kind) => [kind, faults.filter(({ fault }) => fault === kind).length]),
          ),
        ),
    );
    expect(faults.slice(0, SHOWN), `${faults.length} faults`).toEqual([]);
    // The harness sees what it is for.
    expect(kept).toBeGreaterThan(ROUNDS * 10);
    expect(unsynced).toBeGreaterThan(0);
  }, 600_000);
});

async function work(sandbox: string): Promise<void> {
  await must(service, 'StartSandbox', { sandbox });
  time.from = process.hrtime.bigint();
  const unsynced = writeUnsynced(service, sandbox);
  const plain = await writeFiles(service, sandbox, { forMs: DEFAULT_MS, durable: 0 }, random);
  await unsynced;
  await sleep(QUIET_MS);
  const durable = await writeFiles(service, sandbox, { forMs: DURABLE_MS, durable: 0.5 }, random);
  time.to = process.hrtime.bigint();
  histories = new Map([...plain, ...durable]);
  await must(service, 'StopSandbox', { sandbox });
}

/** Records what the image is told during `work`. */
async function record(work: () => Promise<void>): Promise<void> {
  const log = join(folder, 'log');
  const program = join(import.meta.dirname, 'power-cut/recorder.ts');
  recorder = spawn(process.execPath, [program, image, log], { stdio: 'inherit' });
  const ended = once(recorder, 'exit');
  await mounted();
  await work();
  await released(image);
  const { status, stderr } = spawnSync('umount', [image], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  await ended;
  entries = decodeEntries(readFileSync(log));
}

async function mounted(): Promise<void> {
  const deadline = Date.now() + MOUNTED_WITHIN_MS;
  while (!readFileSync('/proc/self/mounts', 'utf8').includes(` ${image} fuse`)) {
    if (Date.now() > deadline) throw new Error('the recorder is not there');
    await sleep(10);
  }
}

function randomCut(round: number): Cut {
  const at = time.from + BigInt(Math.floor(random() * Number(time.to - time.from)));
  return { at, survival: survivals[round % survivals.length] ?? 'all' };
}

/** The sandbox's files once the journal is replayed. */
async function after(cut: Cut): Promise<Map<string, string>> {
  const disk = join(folder, 'cut.img');
  await makeDisk(disk, base, entries, cut, random);
  const found = await filesOn(disk, join(folder, 'mountpoint'));
  await check(disk);
  return found;
}
