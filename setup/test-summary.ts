/**
 * Sums up test runs from vitest's own reports: `N passed, N failed, N skipped`. As a program, prints it below the skipped, the
 * slow and the failed tests of all given reports, so that the end of a long output names each failure and its reason.
 */
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { slow } from '../test/slow.ts';

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  testResults: FileResult[];
}

interface FileResult {
  name: string;
  status: string;
  /** Reason of a file that failed by itself. */
  message?: string;
  assertionResults: Assertion[];
}

interface Assertion {
  fullName: string;
  status?: string;
  /** Milliseconds; none for a test that did not run. */
  duration?: number | null;
  failureMessages?: string[] | null;
}

/** Vitest's words for a test that did not run. */
const notRun = ['skipped', 'pending', 'todo'];

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

export function testSummary(...files: string[]): string {
  let [passed, failed, skipped] = [0, 0, 0];
  for (const { numPassedTests, numFailedTests, testResults } of files.map(read)) {
    passed += numPassedTests;
    failed += numFailedTests + testResults.filter(failedByItself).length;
    skipped += testResults.flatMap(({ assertionResults }) => assertionResults.filter(wasSkipped)).length;
  }
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

/** A line for each test that took over ten seconds, the slowest first, with the reason of its file. */
export function slowTests(...files: string[]): string[] {
  return files
    .flatMap((file) => read(file).testResults)
    .flatMap(({ name, assertionResults }) =>
      assertionResults.map(({ fullName, duration }) => ({ file: name, fullName, ms: duration ?? 0 })),
    )
    .filter(({ ms }) => ms > slowMs)
    .sort((a, b) => b.ms - a.ms)
    .map(({ ms, file, fullName }) => {
      const path = relative('.', file);
      const reason = slow[path] ?? 'no reason is given in test/slow.ts';
      return `slow: ${(ms / 1_000).toFixed(0)} s, ${path}, ${fullName} (${reason})`;
    });
}

/** A line for each test that did not run; vitest's report has no reasons. */
export function skippedTests(...files: string[]): string[] {
  return files
    .flatMap((file) => read(file).testResults)
    .flatMap(({ name, assertionResults }) =>
      assertionResults
        .filter(wasSkipped)
        .map(({ fullName }) => `skipped: ${relative('.', name)}, ${fullName}`),
    );
}

/** Each failed test, and each file that failed by itself, with the beginning of the reason. */
export function failedTests(...files: string[]): string[] {
  return files
    .flatMap((file) => read(file).testResults)
    .flatMap((result) => {
      const path = relative('.', result.name);
      if (failedByItself(result)) return [`failed: ${path}: ${beginning(result.message ?? '')}`];
      return result.assertionResults
        .filter(hasFailed)
        .map(
          ({ fullName, failureMessages }) =>
            `failed: ${path}, ${fullName}: ${beginning(failureMessages?.[0] ?? '')}`,
        );
    });
}

/** True for a file that could not be loaded, or whose hook failed: none of its tests counts for it. */
function failedByItself(result: FileResult): boolean {
  return hasFailed(result) && !result.assertionResults.some(hasFailed);
}

function hasFailed({ status }: { status?: string }): boolean {
  return status === 'failed';
}

function wasSkipped({ status }: Assertion): boolean {
  return status !== undefined && notRun.includes(status);
}

function beginning(reason: string): string {
  return stripVTControlCharacters(reason)
    .split('\n')
    .slice(0, maxReason.lines)
    .join('\n')
    .slice(0, maxReason.characters);
}

function read(file: string): Report {
  return JSON.parse(readFileSync(file, 'utf8'));
}

if (import.meta.main) {
  const reports = process.argv.slice(2);
  const lines = [skippedTests, slowTests, failedTests].flatMap((list) => list(...reports));
  for (const line of lines) console.info(line);
  console.info(testSummary(...reports));
}
