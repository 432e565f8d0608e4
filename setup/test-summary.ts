/**
 * Sums up test runs from vitest's own reports: `N passed, N failed`. As a program, prints it below the slow tests of all
 * reports that it is given.
 */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { name: string; status: string; assertionResults: Assertion[] }[];
}

interface Assertion {
  fullName: string;
  /** Milliseconds; none for a test that did not run. */
  duration?: number | null;
}

/** A third of a test's default time: on a machine three times slower it fails. */
const slowMs = 10_000;

export function testSummary(...files: string[]): string {
  let [passed, failed] = [0, 0];
  for (const { numPassedTests, numFailedTests, testResults } of files.map(read)) {
    // A file that could not even be loaded has no tests of its own to count, and has failed nevertheless.
    const unloaded = testResults.filter(
      ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
    );
    passed += numPassedTests;
    failed += numFailedTests + unloaded.length;
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

function read(file: string): Report {
  return JSON.parse(readFileSync(file, 'utf8'));
}

if (import.meta.main) {
  const reports = process.argv.slice(2);
  for (const line of slowTests(...reports)) console.info(line);
  console.info(testSummary(...reports));
}
