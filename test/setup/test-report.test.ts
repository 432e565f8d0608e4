/** The report of a run of vitest, of which the summary is made. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { failedTests, reportTo } from '../../setup/test-summary.ts';

it('says why a hook within `describe` failed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandhaven-report-'));
  try {
    writeFileSync(
      join(folder, 'hook.test.ts'),
      "describe('a thing', () => { afterAll(() => { throw new Error('no end'); }); it('is good', () => {}); });",
    );
    const report = join(folder, 'report.json');
    const vitest = join(import.meta.dirname, '../../node_modules/.bin/vitest');
    const args = [vitest, 'run', '--globals', '--root', folder, ...reportTo(report)];
    expect(spawnSync(process.execPath, args).status).toBe(1);
    expect(failedTests(report)).toEqual([expect.stringMatching(/hook\.test\.ts: no end$/)]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
