/** A kill at any moment leaves a whole chain, which lacks at most the last moments. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../store/fixtures.ts';
import { linesUntilKilled } from '../support/killed-program.ts';
import { openLog } from './log.ts';

const BATCH_MS = 200;

const ROUNDS = 5;
/** Beside what is said to wait: how long a busy machine may take to write it. */
const GRACE_MS = 400;

interface Noted {
  requestId: string;
  at: number;
}

it('kill -9 at a random moment, round after round', async () => {
  const directory = temporaryDirectory();
  const due: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { noted, killedAt } = await noteUntilKilled(directory);
    expect(noted.length, `round ${round}`).toBeGreaterThan(0);
    const late = killedAt - BATCH_MS - GRACE_MS;
    due.push(...noted.filter(({ at }) => at < late).map(({ requestId }) => requestId));
  }
  expect(due.length).toBeGreaterThan(0);
  const log = await openLog({ directory });
  expect(await log.audit.verify()).toMatchObject({ intact: true, faults: [] });
  const kept = (await log.store.read(0, 1_000_000)).map(({ requestId, action }) => requestId ?? action);
  expect(kept.filter((name) => name === 'service.start')).toHaveLength(ROUNDS + 1);
  expect(kept).not.toContain('service.stop');
  const distinct = new Set(kept);
  expect(distinct.size).toBe(kept.length - ROUNDS);
  expect(due.filter((id) => !distinct.has(id))).toEqual([]);
}, 120_000);

/** 0.7 to 1.4 s after the first. */
async function noteUntilKilled(directory: string): Promise<{ noted: Noted[]; killedAt: number }> {
  const writer = join(import.meta.dirname, 'writer.ts');
  const { lines, killedAt } = await linesUntilKilled(writer, [directory], 700 + Math.random() * 700);
  return { noted: lines.map((line) => JSON.parse(line)), killedAt };
}
