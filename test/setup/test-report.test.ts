/** The report of a run of vitest, of which the summary is made. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { failedTests, reportTo } from '../../setup/test-summary.ts';

/** What the summary says of a run of one file with this text. */
function failures(text: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'sandhaven-report-'));
  try {
    writeFileSync(join(folder, 'x.test.ts'), text);
    const report = join(folder, 'report.json');
    const vitest = join(import.meta.dirname, '../../node_modules/.bin/vitest');
    const args = [vitest, 'run', '--globals', '--root', folder, ...reportTo(report)];
    expect(spawnSync(process.execPath, args).status).toBe(1);
    return failedTests(report).map((failure) => failure.split('\n', 1)[0] ?? '');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

it('says why a hook within `describe` failed', () => {
  const text =
    "describe('a thing', () => { afterAll(() => { throw new Error('no end'); }); it('is good', () => {}); });";
  expect(failures(text)).toEqual(['failed: x.test.ts: Error: no end']);
});

it('says what failed while no test waited for it', () => {
  const text =
    "it('is good', async () => { Promise.reject(new Error('unseen')); await new Promise(setImmediate); });";
  expect(failures(text)).toEqual(['failed: during x.test.ts: Error: unseen']);
});
