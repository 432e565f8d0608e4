/** When each run of a part last passed, in last-runs.json, which is committed: CI takes the change since its newest commit. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface LastRun {
  /** As 2026-11-29. */
  date: string;
  commit: string;
}

const root = join(import.meta.dirname, '../..');
const file = join(import.meta.dirname, 'last-runs.json');

/** By the part's name and the run's, with a space between. */
export function lastRuns(): Record<string, LastRun> {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

/** The commit that is checked out; null with other changes, whose runs are noted nowhere. */
export function cleanCommit(): string | null {
  const changed = git('status', '--porcelain', '--untracked-files=no').split('\n');
  if (changed.some((line) => line !== '' && !line.endsWith('test/deep/last-runs.json'))) return null;
  return git('rev-parse', 'HEAD').trim();
}

export function noteRun(name: string, commit: string): void {
  const run: LastRun = { date: new Date().toISOString().slice(0, 10), commit };
  const all = Object.entries({ ...lastRuns(), [name]: run }).toSorted(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
}

function git(...args: string[]): string {
  return spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout;
}
