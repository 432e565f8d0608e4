/** Prints the closing line of a test run from vitest's own report: `N passed, N failed`. */
import { readFileSync } from 'node:fs';

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { status: string; assertionResults: unknown[] }[];
}

const report: Report = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
// A file that could not be loaded has no tests to count, and has failed nevertheless.
const unloaded = report.testResults.filter(
  (file) => file.status === 'failed' && file.assertionResults.length === 0,
);
console.log(`${report.numPassedTests} passed, ${report.numFailedTests + unloaded.length} failed`);
