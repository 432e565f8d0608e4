/**
 * Power cuts of a whole machine: QEMU is killed while files are written and sandboxes are created, archived and
 * deleted. After each boot all that was acknowledged is there, nothing is stuck, and nothing is orphaned.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { suites } from '../../setup/debian/machines/recipe.ts';
import { judge } from '../chaos/power-cut/judge.ts';
import { type Histories, writeFiles } from '../chaos/power-cut/workload.ts';
import { between, givenSeed, randomFrom } from '../support/random.ts';
import { must } from '../support/service.ts';
import { type Churn, createChurn } from './support/churn.ts';
import { type Installed, startInstalled } from './support/installed.ts';

const ROUNDS = Number(process.env['SANDHAVEN_POWER_CUTS'] ?? 20);
/** From the first acknowledged file to the cut. */
const WORK_MS = { min: 5_000, max: 40_000 };
/** A kernel on an emulated processor comes late to what it does each second. */
const SAFE_AFTER_NS = 20_000_000_000n;
const ENDLESS_MS = 3_600_000;
const SETTLED = { timeout: 300_000, interval: 1_000 };

const seed = givenSeed();
const random = randomFrom(seed);
let churn: Churn;
let installed: Installed;

const tool = (name: string, parameters: Record<string, unknown>) => must(installed.service, name, parameters);

interface Listed {
  id: string;
  state: string;
}

describe.each(suites)(`%s loses its power (seed ${seed})`, (suite) => {
  beforeAll(async () => {
    churn = createChurn(random);
    installed = await startInstalled(inject('machinePayload'), suite);
  });

  afterAll(() => installed?.machine.close());

  it('loses what it had not flushed, and keeps what it had', async () => {
    const { machine } = installed;
    await machine.must('echo flushed > /srv/flushed && sync && echo not > /srv/not-flushed');
    await cut();
    expect(await machine.must('cat /srv/flushed')).toBe('flushed\n');
    expect((await machine.run('grep not /srv/not-flushed')).status).not.toBe(0);
  });

  it.each(Array.from({ length: ROUNDS }, (_, round) => round + 1))(
    'cut %i: nothing acknowledged is lost',
    async () => {
      const { id } = await tool('CreateSandbox', { cpu: 1, memory_gb: 1, disk_gb: 1 });
      const histories: Histories = new Map();
      const writing = writeFiles(
        installed.service,
        String(id),
        { forMs: ENDLESS_MS, durable: 0.5 },
        random,
        histories,
      ).catch(endsWithTheMachine);
      const working = churn.work(installed.service);
      await expect.poll(() => acknowledged(histories), SETTLED).toBeGreaterThan(0);
      await sleep(between(random, WORK_MS.min, WORK_MS.max));
      const cutAt = process.hrtime.bigint();
      await cut();
      await Promise.all([writing, working]);

      const sandboxes = await settled();
      expect(sandboxes.filter(({ state }) => state === 'error')).toEqual([]);
      await tool('StartSandbox', { sandbox: id });
      const verdict = judge(histories, await filesIn(String(id)), cutAt, SAFE_AFTER_NS);
      expect(verdict.faults, `of ${histories.size} files`).toEqual([]);
      await everyAnswerHolds(sandboxes);
      await tool('DeleteSandbox', { sandbox: id });
    },
  );

  it('leaves nothing behind when all sandboxes are deleted', async () => {
    for (const { id } of await settled()) await tool('DeleteSandbox', { sandbox: id });
    const traces = await installed.traces();
    expect(Object.values(traces).flat()).toEqual([]);
  });
});

/** The power goes, and comes back. */
async function cut(): Promise<void> {
  await installed.machine.powerCut();
  await installed.machine.boot();
  await installed.ready();
}

function endsWithTheMachine(error: unknown): void {
  if (!(error instanceof TypeError)) throw error;
}

function acknowledged(histories: Histories): number {
  return [...histories.values()].flat().filter((version) => version.acknowledged !== null).length;
}

/**
 * Waits until the service has finished what the cut interrupted: each sandbox has its folder, and each folder its sandbox. What
 * is in progress shows in no result.
 */
async function settled(): Promise<Listed[]> {
  let sandboxes: Listed[] = [];
  const unmatched = async () => {
    const { folders } = await installed.traces();
    sandboxes = (await tool('ListSandboxes', { page_size: 100 }))['sandboxes'] as unknown as Listed[];
    const ids = sandboxes.map(({ id }) => id);
    return [
      ...folders.filter((id) => !ids.includes(id)).map((id) => `${id} has no row`),
      ...ids.filter((id) => !folders.includes(id)).map((id) => `${id} has no folder`),
    ];
  };
  await expect.poll(unmatched, SETTLED).toEqual([]);
  return sandboxes;
}

/** Digests by name, as `judge` takes them; '' of an empty file. */
async function filesIn(sandbox: string): Promise<Map<string, string>> {
  const command = 'find . -type f -empty -printf "- %f\\n"; find . -type f -size +0 -exec sha256sum {} +';
  const { stdout } = await tool('RunCommand', { sandbox, command, timeout_seconds: 300 });
  const lines = String(stdout).trim().split('\n').filter(Boolean);
  return new Map(
    lines.map((line) => {
      const [digest = '', name = ''] = line.split(/\s+/);
      return [name.replace(/^\.\//, ''), digest === '-' ? '' : digest];
    }),
  );
}

async function everyAnswerHolds(sandboxes: Listed[]): Promise<void> {
  for (const { id, files, deleteRequested, deleted } of churn.known) {
    const isThere = sandboxes.some((sandbox) => sandbox.id === id);
    if (deleted) expect(isThere, `${id} was deleted`).toBe(false);
    if (!deleteRequested) expect(isThere, `${id} was there`).toBe(true);
    if (!isThere || files.size === 0) continue;
    await tool('StartSandbox', { sandbox: id });
    const found = await filesIn(id);
    for (const [name, digest] of files) expect(found.get(name), `${id}: ${name}`).toBe(digest);
    await tool('StopSandbox', { sandbox: id });
  }
}
