/**
 * Sums up the reports of test runs: `N passed, N failed, N skipped`. As a program, prints it below the skipped, the
 * slow and the failed tests of all given reports, so that the end of a long output names each failure and its reason.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { slow } from '../test/slow.ts';
import type { TestFile, TestRun } from './test-report.ts';

/** A third of a test's default time: on a machine three times slower it fails. */
const slowMs = 10_000;
/** Shown lines and characters of a failure's reason; the whole is further up. */
const maxReason = { lines: 8, characters: 800 };

/** Arguments of vitest for a report into a file, beside what it says meanwhile. */
export const reportTo = (file: string): string[] => [
  '--reporter=default',
  `--reporter=${join(import.meta.dirname, 'test-report.ts')}`,
  `--outputFile.json=${file}`,
];

export function testSummary(...reports: string[]): string {
  const runs = reports.map(read);
  const tests = runs.flatMap(({ files }) => files).flatMap((file) => file.tests);
  const count = (...states: string[]): number => tests.filter(({ state }) => states.includes(state)).length;
  const failed = count('failed') + otherFailures(runs).length;
  return `${count('passed')} passed, ${failed} failed, ${count('skipped', 'pending')} skipped`;
}

/** A line for each test that took over ten seconds, the slowest first, with the reason of its file. */
export function slowTests(...reports: string[]): string[] {
  return allTests(reports)
    .filter(({ ms }) => ms > slowMs)
    .sort((a, b) => b.ms - a.ms)
    .map(({ ms, path, name }) => {
      const why = slow[path] ?? 'no reason is given in test/slow.ts';
      return `slow: ${(ms / 1_000).toFixed(0)} s, ${path}, ${name} (${why})`;
    });
}

/** A line for each test that did not run. */
export function skippedTests(...reports: string[]): string[] {
  return allTests(reports)
    .filter(({ state }) => state === 'skipped' || state === 'pending')
    .map(({ path, name }) => `skipped: ${path}, ${name}`);
}

/** Each failed test, each file that failed by itself, and what failed outside of both, with the beginning of the reason. */
export function failedTests(...reports: string[]): string[] {
  const tests = allTests(reports)
    .filter(({ state }) => state === 'failed')
    .map(({ path, name, errors }) => `failed: ${path}, ${name}: ${beginning(errors[0])}`);
  return [...tests, ...otherFailures(reports.map(read))];
}

/** Files count that failed without a failed test; so does what failed outside of all. */
function otherFailures(runs: TestRun[]): string[] {
  const files = runs
    .flatMap((run) => run.files)
    .filter(({ errors, tests }) => errors.length > 0 && !tests.some(({ state }) => state === 'failed'))
    .map(({ path, errors }) => `failed: ${path}: ${beginning(errors[0])}`);
  return [...files, ...runs.flatMap(({ outside }) => outside).map((error) => `failed: ${beginning(error)}`)];
}

function allTests(reports: string[]): (TestFile['tests'][number] & { path: string })[] {
  return reports
    .flatMap((report) => read(report).files)
    .flatMap(({ path, tests }) => tests.map((test) => ({ ...test, path })));
}

function beginning(reason = ''): string {
  return stripVTControlCharacters(reason)
    .split('\n')
    .slice(0, maxReason.lines)
    .join('\n')
    .slice(0, maxReason.characters);
}

function read(file: string): TestRun {
  return JSON.parse(readFileSync(file, 'utf8'));
}

if (import.meta.main) {
  const reports = process.argv.slice(2);
  const lines = [skippedTests, slowTests, failedTests].flatMap((list) => list(...reports));
  for (const line of lines) console.info(line);
  console.info(testSummary(...reports));
}
