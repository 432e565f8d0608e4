/**
 * `make quick`: types, format and lint, and the quick tests of test/quick.ts, side by side. Ends with the counts and the
 * seconds. An argument leaves only the tests with it in their path; types, format and lint are always of everything.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { testFiles } from '../test/quick.ts';
import { testSummary } from './test-summary.ts';

interface Outcome {
  name: string;
  passed: boolean;
  said: string;
}

const home = join(import.meta.dirname, '..');

process.exitCode = (await quick(process.argv[2] ?? '')) ? 0 : 1;

async function quick(part: string): Promise<boolean> {
  const begun = performance.now();
  const isMeant = (file: string) => file.toLowerCase().includes(part.toLowerCase());
  const files = testFiles();
  const [meant, others] = [files.quick.filter(isMeant), files.others.filter(isMeant)];
  if (meant.length === 0) {
    console.error(`quick: no quick test has "${part}" in its path; of the others, ${others.length} have`);
    return false;
  }
  const folder = mkdtempSync(join(tmpdir(), 'sandhaven-quick-'));
  try {
    const beside = [check('types', ['tsc', '--noEmit']), check('format-and-lint', ['biome', 'check', '.'])];
    const report = join(folder, 'report.json');
    console.info('== tests');
    const outcomes = [await check('tests', testArguments(part === '' ? [] : meant, report), 'inherit')];
    for (const outcome of await Promise.all(beside)) {
      console.info(`== ${outcome.name}\n${outcome.said}`.trimEnd());
      outcomes.push(outcome);
    }
    const failed = outcomes.filter(({ passed }) => !passed).map(({ name }) => name);
    if (failed.length > 0) console.info(`failed: ${failed.join(', ')}`);
    if (part !== '' && others.length > 0)
      console.info(`${others.length} more files with "${part}" run in make test`);
    const counts = existsSync(report) ? testSummary(report) : 'no test ran';
    console.info(`${counts}, in ${Math.round((performance.now() - begun) / 1_000)} s`);
    return failed.length === 0;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function testArguments(files: string[], report: string): string[] {
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  return ['vitest', 'run', '--config=vitest.quick.config.ts', ...reporters, ...files];
}

/** Runs a program of npm's packages to its end, whatever that is. */
async function check(name: string, argv: string[], output: 'pipe' | 'inherit' = 'pipe'): Promise<Outcome> {
  const [program = '', ...args] = argv;
  const bin = join(home, 'node_modules/.bin', program);
  const child = spawn(process.execPath, [bin, ...args], { cwd: home, stdio: ['ignore', output, output] });
  const ended = new Promise<boolean>((resolve, reject) => {
    child.once('error', reject).once('close', (status) => resolve(status === 0));
  });
  const parts = [child.stdout, child.stderr].map((stream) => (stream ? text(stream) : ''));
  const [passed, ...said] = await Promise.all([ended, ...parts]);
  return { name, passed, said: said.join('') };
}
