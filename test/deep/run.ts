/**
 * `make test-deep`: runs parts of parts.ts. As `make test-deep PART=attacks RUN=hostile` one run of one part, without RUN all of it,
 * without PART all parts, which takes hours; T leaves the tests with that text in their path.
 * As a part of CI (`--changed`), the runs that choice.ts finds.
 */
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { failedTests, reportTo, slowTests, testSummary } from '../../setup/test-summary.ts';
import { type Chosen, choose, minutesFor } from './choice.ts';
import { cleanCommit, lastRuns, noteRun } from './last-runs.ts';
import { type Part, parts, type Run } from './parts.ts';

const root = join(import.meta.dirname, '../..');
const words = (text: string) => text.split('\n').filter((line) => line !== '');

const { values } = parseArgs({
  options: {
    part: { type: 'string', default: '' },
    run: { type: 'string', default: '' },
    only: { type: 'string', default: '' },
    list: { type: 'boolean', default: false },
    changed: { type: 'boolean', default: false },
    /** Seconds since 1970 at which CI began. */
    begun: { type: 'string', default: '' },
  },
});
if (values.list) console.info(table());
else process.exitCode = (values.changed ? runChanged() : runNamed()) ? 0 : 1;

function runNamed(): boolean {
  const meant = parts
    .filter(({ name }) => values.part === '' || name === values.part)
    .flatMap((part) => part.runs.map((run) => ({ part, run, why: 'it was asked for' })))
    .filter(({ run }) => values.run === '' || run.name === values.run);
  if (meant.length === 0) {
    console.error(`test-deep: there is no such part or run; these are there:\n${table()}`);
    return false;
  }
  return runAll(meant);
}

function runChanged(): boolean {
  const changed = changedFiles();
  const limit = minutesFor(changed);
  const past = values.begun === '' ? 0 : (Date.now() / 1_000 - Number(values.begun)) / 60;
  const commits = Number(git('rev-list', '--count', 'HEAD'));
  const { chosen, left } = choose(changed, commits, limit - past);
  console.info(`${changed.length} files have changed; ${Math.round(past)} of ${limit} minutes are over`);
  for (const { part, run, why } of left) {
    console.info(`not run: ${part.name} ${run.name}, ${run.minutes} min (${why}; it would take too long)`);
  }
  // Before them: a long output ends with what failed.
  console.info(table());
  return runAll(chosen);
}

/** Since CI_BASE, or since the newest commit at which a part is noted to have passed. */
function changedFiles(): string[] {
  const noted = Object.values(lastRuns()).map(({ commit }) => commit);
  const known = noted.filter((commit) => git('merge-base', commit, 'HEAD') === commit);
  const newest = known.length === 0 ? 'HEAD^' : words(git('rev-list', '--no-walk', ...known))[0];
  const base = process.env['CI_BASE'] || newest || 'HEAD^';
  return words(git('diff', '--name-only', base, 'HEAD'));
}

function runAll(meant: Chosen[]): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'sandhaven-deep-'));
  const failed: string[] = [];
  try {
    for (const { part, run, why } of meant) {
      const name = `${part.name} ${run.name}`;
      console.info(`== ${name}, ${run.minutes} min (${why}): ${part.shows}`);
      // Before the run: commits may come meanwhile.
      const commit = cleanCommit();
      const passed = prepare(part, run) && (run.program ? runProgram(run) : runTests(part, run, folder));
      if (!passed) failed.push(name);
      else if (values.only === '' && commit !== null) noteRun(name, commit);
    }
    const reports = globSync(join(folder, '*.json'));
    for (const line of [...slowTests(...reports), ...failedTests(...reports)]) console.info(line);
    if (failed.length > 0) console.info(`failed: ${failed.join(', ')}`);
    console.info(`${testSummary(...reports)}, in ${meant.length} runs of parts`);
    return failed.length === 0;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function prepare(part: Part, run: Run): boolean {
  const needs = run.needs ?? part.needs;
  return needs.length === 0 || succeeds('make', ['--no-print-directory', '--jobs=3', ...needs]);
}

function runProgram({ program = [] }: Run): boolean {
  return succeeds(process.execPath, program);
}

function runTests(part: Part, run: Run, folder: string): boolean {
  const report = join(folder, `${part.name}-${run.name}.json`);
  const named = part.project === 'programs' ? values.only : '';
  const match = [run.match, named].filter(Boolean).join('.*');
  const only = [
    ...(match === '' ? [] : ['-t', match]),
    ...(named === '' && values.only !== '' ? [values.only] : []),
  ];
  return succeeds(
    process.execPath,
    [
      'node_modules/.bin/vitest',
      'run',
      '--project',
      run.project ?? part.project,
      ...reportTo(report),
      ...only,
    ],
    { SANDHAVEN_TEST_PART: part.name, SANDHAVEN_TEST_RUN: run.name, ...run.env },
  );
}

function succeeds(program: string, args: string[], env: Record<string, string> = {}): boolean {
  const { MAKEFLAGS: _, ...own } = process.env;
  return spawnSync(program, args, { cwd: root, stdio: 'inherit', env: { ...own, ...env } }).status === 0;
}

function git(...args: string[]): string {
  return spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout.trim();
}

function table(): string {
  const last = lastRuns();
  const rows = parts.flatMap((part) =>
    part.runs.map((run) => {
      const noted = last[`${part.name} ${run.name}`];
      return [
        part.name,
        run.name,
        `${run.minutes} min`,
        noted ? `${noted.date} ${noted.commit.slice(0, 8)}` : 'never',
      ];
    }),
  );
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
