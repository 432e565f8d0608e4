/** A kill at any moment leaves a whole chain, which lacks at most the last moments. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { limits } from '../../src/model/limits.ts';
import { temporaryDirectory } from '../store/fixtures.ts';
import { openLog } from './log.ts';

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
    const late = killedAt - limits.audit.batchMs - GRACE_MS;
    due.push(...noted.filter(({ at }) => at < late).map(({ requestId }) => requestId));
  }
  expect(due.length).toBeGreaterThan(0);
  const log = await openLog({ directory });
  expect(await log.audit.verify()).toMatchObject({ intact: true, faults: [] });
  const kept = (await log.store.read(0, 1_000_000)).map(({ requestId, action }) => requestId ?? action);
  expect(kept.filter((name) => name === 'service.start')).toHaveLength(ROUNDS + 1);
  expect(kept).not.toContain('service.stop');
  expect(new Set(kept).size).toBe(kept.length - ROUNDS);
  expect(due.filter((id) => !kept.includes(id))).toEqual([]);
}, 120_000);

/** 0.7 to 1.4 s after the first. */
async function noteUntilKilled(directory: string): Promise<{ noted: Noted[]; killedAt: number }> {
  const writer = spawn(process.execPath, [join(import.meta.dirname, 'writer.ts'), directory]);
  onTestFinished(() => void writer.kill('SIGKILL'));
  let output = '';
  let problems = '';
  writer.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  writer.stderr.on('data', (chunk: Buffer) => {
    problems += chunk;
  });
  const closed = once(writer, 'close');
  await Promise.race([once(writer.stdout, 'data'), closed]);
  await delay(700 + Math.random() * 700);
  const killedAt = Date.now();
  writer.kill('SIGKILL');
  const [, signal] = await closed;
  expect({ signal, problems }).toEqual({ signal: 'SIGKILL', problems: '' });
  const lines = output.split('\n').slice(0, -1);
  return { noted: lines.map((line) => JSON.parse(line)), killedAt };
}
