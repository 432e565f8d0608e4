/**
 * Sums up test runs from vitest's own reports: `N passed, N failed`. As a program, prints it below the slow and the failed
 * tests of all reports that it is given: who sees only the end of a long output sees what failed, and why.
 */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  testResults: FileResult[];
}

interface FileResult {
  name: string;
  status: string;
  /** Why the file could not be loaded, or a hook of it failed. */
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

/** A third of a test's default time: on a machine three times slower it fails. */
const slowMs = 10_000;
/** Lines and characters shown of why a test failed; all of it is further up. */
const maxReason = { lines: 8, characters: 800 };

export function testSummary(...files: string[]): string {
  let [passed, failed] = [0, 0];
  for (const { numPassedTests, numFailedTests, testResults } of files.map(read)) {
    // A file that could not even be loaded has no tests of its own to count, and has failed nevertheless.
    passed += numPassedTests;
    failed += numFailedTests + testResults.filter(isUnloaded).length;
  }
  return `${passed} passed, ${failed} failed`;
}

/** A line for each test that took over ten seconds, the slowest first. */
export function slowTests(...files: string[]): string[] {
  return files
    .flatMap((file) => read(file).testResults)
    .flatMap(({ name, assertionResults }) =>
      assertionResults.map(({ fullName, duration }) => ({ file: name, fullName, ms: duration ?? 0 })),
    )
    .filter(({ ms }) => ms > slowMs)
    .sort((a, b) => b.ms - a.ms)
    .map((test) => `slow: ${(test.ms / 1_000).toFixed(0)} s, ${relative('.', test.file)}, ${test.fullName}`);
}

/** Each failed test with the beginning of its reason, and each file that failed without one. */
export function failedTests(...files: string[]): string[] {
  return files
    .flatMap((file) => read(file).testResults)
    .filter(({ status }) => status === 'failed')
    .flatMap((result) => {
      const path = relative('.', result.name);
      const failed = result.assertionResults.filter(({ status }) => status === 'failed');
      if (failed.length === 0) return [`failed: ${path}: ${beginning(result.message ?? '')}`];
      return failed.map(
        ({ fullName, failureMessages }) =>
          `failed: ${path}, ${fullName}: ${beginning(failureMessages?.[0] ?? '')}`,
      );
    });
}

function isUnloaded({ status, assertionResults }: FileResult): boolean {
  return status === 'failed' && assertionResults.length === 0;
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
  for (const line of [...slowTests(...reports), ...failedTests(...reports)]) console.info(line);
  console.info(testSummary(...reports));
}
