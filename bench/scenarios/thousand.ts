/**
 * Grows a service to a thousand idle sandboxes, and measures it among none, 100, 500 and all of them. Its warm pool is
 * off, so that a creation is whole. Takes minutes, so it runs only by its name.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { home } from '../base/machine.ts';
import type { Scenario } from '../base/scenario.ts';
import { LASTING, type Level, measureLevel } from '../crowd/level.ts';
import { levelsPicture, levelsTable } from '../crowd/report.ts';
import { inTurns } from '../launches/in-turns.ts';

const LEVELS = [0, 100, 500, 1_000];
const ROUNDS = 20;
/** Thin disks of the default size: together they may promise far more than there is. */
const FLAGS = ['--disk-overcommit', '1000000'];
const PUBLISHED = join(home, 'bench/thousand.svg');
const TRIED = join(home, 'bench/results/thousand.svg');

export const thousand: Scenario = async (bench) => {
  const { count, rounds, signal } = bench;
  await using service = await bench.startAnother(0, FLAGS);
  await using cleanup = new AsyncDisposableStack();
  const ids: string[] = [];
  // Before the service ends: its removal alone would take longer than it may.
  cleanup.defer(() => inTurns(ids, (id) => service.remove(id)));
  const levels: Level[] = [];
  for (const sandboxes of [...LEVELS.filter((level) => level < count), count]) {
    await inTurns(Array.from({ length: sandboxes - ids.length }), async () => {
      signal.throwIfAborted();
      ids.push(await service.create(LASTING));
    });
    levels.push(await measureLevel(service, sandboxes, rounds(ROUNDS).counted));
  }
  // A smaller run is a try: it leaves the published picture alone.
  const picture = count >= (LEVELS.at(-1) ?? 0) ? PUBLISHED : TRIED;
  await mkdir(dirname(picture), { recursive: true });
  await writeFile(picture, levelsPicture(levels));
  return { samples: {}, details: { levels }, notes: [levelsTable(levels), '', `picture: ${picture}`] };
};
