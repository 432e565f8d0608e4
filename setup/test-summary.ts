/** Sums up a test run from vitest's own report: `N passed, N failed`. As a program, prints it. */
import { readFileSync } from 'node:fs';

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { status: string; assertionResults: unknown[] }[];
}

export function testSummary(file: string): string {
  const report: Report = JSON.parse(readFileSync(file, 'utf8'));
  // A file that could not even be loaded has no tests of its own to count, and has failed nevertheless.
  const unloaded = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  );
  return `${report.numPassedTests} passed, ${report.numFailedTests + unloaded.length} failed`;
}

if (import.meta.main) console.info(testSummary(process.argv[2] ?? ''));
