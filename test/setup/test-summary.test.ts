/** The summary of several runs. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { TestFile } from '../../setup/test-report.ts';
import { failedTests, skippedTests, slowTests, testSummary } from '../../setup/test-summary.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandhaven-summary-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

type Test = TestFile['tests'][number];

/** A file of the report with one test. */
function file(test: Partial<Test>, path = 'test/x.test.ts', errors: string[] = []): TestFile {
  return { path, errors, tests: [{ name: 'good', state: 'passed', ms: 1, errors: [], ...test }] };
}

function report(name: string, files: TestFile[], outside: string[] = []): string {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify({ files, outside }));
  return path;
}

it('adds up all runs, and counts a file that could not be loaded, or whose hook failed, and what failed outside of all', () => {
  const unloaded = { path: 'a.test.ts', errors: ['no such module'], tests: [] };
  const runs = [
    report('one', [file({}), file({ state: 'failed', errors: ['bad'] })], ['a rejection']),
    report('two', [unloaded, file({}, 'b.test.ts', ['bad hook'])]),
  ];
  expect(testSummary(...runs)).toBe('2 passed, 4 failed, 0 skipped');
});

it('counts and names the tests that did not run, of all runs', () => {
  const runs = [
    report('one', [file({}), file({ state: 'skipped' }), file({ state: 'pending' }, 'test/y.test.ts')]),
    report('two', [file({ name: 'later', state: 'skipped' })]),
  ];
  expect(testSummary(...runs)).toBe('1 passed, 0 failed, 3 skipped');
  expect(skippedTests(...runs)).toEqual([
    'skipped: test/x.test.ts, good',
    'skipped: test/y.test.ts, good',
    'skipped: test/x.test.ts, later',
  ]);
});

it('names the slow tests of all runs, the slowest first, each with its reason', () => {
  const reports = [
    report('one', [file({ name: 'slow', ms: 11_000 }, 'test/webhooks/sender.test.ts')]),
    report('two', [file({ name: 'slower', ms: 30_000 }), file({ name: 'quick', ms: 9_000 })]),
  ];
  expect(slowTests(...reports)).toEqual([
    'slow: 30 s, test/x.test.ts, slower (no reason is given in test/slow.ts)',
    'slow: 11 s, test/webhooks/sender.test.ts, slow (waits for a bound of ten seconds or more, which a real socket or kernel measures)',
  ]);
});

it('names what failed in all runs with the beginning of why: tests, files by themselves, and what is of neither', () => {
  const reason = [
    'Error: \u001B[31mexpected 1\u001B[39m',
    ...Array.from({ length: 20 }, (_, line) => `at ${line}`),
  ];
  const bad = file({ name: 'bad', state: 'failed', errors: [reason.join('\n')] });
  const unloaded = { path: 'test/x.test.ts', errors: ['no such module'], tests: [] };
  expect(failedTests(report('one', [file({}), bad], ['a rejection']), report('two', [unloaded]))).toEqual([
    'failed: test/x.test.ts, bad: Error: expected 1\nat 0\nat 1\nat 2\nat 3\nat 4\nat 5\nat 6',
    'failed: test/x.test.ts: no such module',
    'failed: a rejection',
  ]);
});
