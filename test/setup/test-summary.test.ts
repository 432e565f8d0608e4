/** The summary of several runs. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { failedTests, skippedTests, slowTests, testSummary } from '../../setup/test-summary.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandhaven-summary-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function report(name: string, passed: number, failed: number, testResults: object[] = []): string {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify({ numPassedTests: passed, numFailedTests: failed, testResults }));
  return file;
}

it('adds up all runs, and counts a file that could not be loaded, or whose hook failed, as a failure', () => {
  const unloaded = { name: 'a.test.ts', status: 'failed', assertionResults: [] };
  const badHook = { ...unloaded, assertionResults: [{ fullName: 'good', status: 'passed' }] };
  const badTest = { ...unloaded, assertionResults: [{ fullName: 'bad', status: 'failed' }] };
  const runs = [report('one', 3, 1, [badTest]), report('two', 4, 0, [unloaded, badHook])];
  expect(testSummary(...runs)).toBe('7 passed, 3 failed, 0 skipped');
});

it('counts and names the tests that did not run, of all runs', () => {
  const name = join(process.cwd(), 'test/x.test.ts');
  const statuses = ['passed', 'skipped', 'todo', 'pending', 'failed'];
  const assertionResults = statuses.map((status) => ({ fullName: `is ${status}`, status }));
  const runs = [
    report('one', 1, 1, [{ name, status: 'failed', assertionResults }]),
    report('two', 0, 0, [
      { name, status: 'passed', assertionResults: [{ fullName: 'later', status: 'skipped' }] },
    ]),
  ];
  expect(testSummary(...runs)).toBe('1 passed, 1 failed, 4 skipped');
  expect(skippedTests(...runs)).toEqual([
    'skipped: test/x.test.ts, is skipped',
    'skipped: test/x.test.ts, is todo',
    'skipped: test/x.test.ts, is pending',
    'skipped: test/x.test.ts, later',
  ]);
});

it('names the slow tests of all runs, the slowest first, each with its reason', () => {
  const slow = (fullName: string, duration: number, file = 'test/x.test.ts') => ({
    name: join(process.cwd(), file),
    status: 'passed',
    assertionResults: [{ fullName, duration }],
  });
  const reports = [
    report('one', 1, 0, [slow('slow', 11_000, 'test/webhooks/sender.test.ts')]),
    report('two', 1, 0, [slow('slower', 30_000)]),
  ];
  expect(slowTests(...reports, report('three', 1, 0, [slow('quick', 9_000)]))).toEqual([
    'slow: 30 s, test/x.test.ts, slower (no reason is given in test/slow.ts)',
    'slow: 11 s, test/webhooks/sender.test.ts, slow (waits for a bound of ten seconds or more, which a real socket or kernel measures)',
  ]);
});

it('names the failed tests of all runs with the beginning of why, and files that could not be loaded', () => {
  const name = join(process.cwd(), 'test/x.test.ts');
  const passed = { fullName: 'good', status: 'passed', failureMessages: [] };
  const reason = [
    'Error: \u001B[31mexpected 1\u001B[39m',
    ...Array.from({ length: 20 }, (_, line) => `at ${line}`),
  ];
  const failed = { fullName: 'bad', status: 'failed', failureMessages: [reason.join('\n')] };
  const unloaded = { name, status: 'failed', message: 'no such module', assertionResults: [] };
  expect(
    failedTests(
      report('one', 1, 1, [{ name, status: 'failed', assertionResults: [passed, failed] }]),
      report('two', 0, 0, [unloaded]),
    ),
  ).toEqual([
    'failed: test/x.test.ts, bad: Error: expected 1\nat 0\nat 1\nat 2\nat 3\nat 4\nat 5\nat 6',
    'failed: test/x.test.ts: no such module',
  ]);
});
