/**
 * `make mutate`: changes the source in one place at a time, and runs the tests that reach the place. A change that no test
 * notices survives; areas.ts bounds the survivors. Results and reports are in .mutation; a mutant whose code and tests did
 * not change keeps its last result, and without that folder all are run.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { type Area, areas } from './areas.ts';

const home = join(import.meta.dirname, '../..');
/** Below the repository's root, as Stryker wants its paths. */
const folder = 'test/mutation';
const packages = `${folder}/node_modules/@stryker-mutator`;
/** Outside of test, since it has copies of tests. */
const reports = '.mutation';

const DETECTED = ['Killed', 'Timeout'];
const UNDETECTED = ['Survived', 'NoCoverage'];
/** Reason for a mutant whose tests could not be run. They say nothing of it, so a run with one fails. */
const CRASH = 'Test runner crashed';

process.exitCode = (await mutate(process.argv[2] ?? '')) ? 0 : 1;

async function mutate(only: string): Promise<boolean> {
  const meant = Object.entries(areas).filter(([name]) => only === '' || name === only);
  if (meant.length === 0) {
    console.error(`mutate: no area "${only}"; there are ${Object.keys(areas).join(', ')}`);
    return false;
  }
  mkdirSync(join(home, reports), { recursive: true });
  const lines: string[] = [];
  let passed = true;
  for (const [name, area] of meant) {
    const begun = performance.now();
    rmSync(join(home, reportOf(name)), { force: true });
    const enough = await runStryker(name, area);
    const seconds = Math.round((performance.now() - begun) / 1_000);
    const { text, unjudged } = scoreIn(reportOf(name));
    lines.push(`${name}: ${text}, at least ${area.leastScore} %; in ${seconds} s`);
    passed &&= enough && unjudged === 0;
  }
  console.info(lines.join('\n'));
  return passed;
}

async function runStryker(name: string, area: Area): Promise<boolean> {
  const options = `${reports}/${name}.options.json`;
  writeFileSync(join(home, options), JSON.stringify(optionsOf(name, area), null, 2));
  const child = spawn(process.execPath, [`${packages}/core/bin/stryker.js`, 'run', options], {
    cwd: home,
    env: {
      ...process.env,
      MUTATION_AREA: name,
      PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`,
    },
    stdio: 'inherit',
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (status) => resolve(status === 0));
  });
}

function optionsOf(name: string, area: Area): object {
  return {
    mutate: area.files,
    testRunner: 'vitest',
    vitest: { configFile: `${folder}/vitest.config.ts` },
    plugins: [`./${packages}/vitest-runner/dist/src/index.js`, `./${folder}/ignore-texts.ts`],
    ignorers: [area.ignored],
    ignoreStatic: area.ignoresStatic ?? false,
    coverageAnalysis: 'perTest',
    disableTypeChecks: true,
    tsconfigFile: 'none',
    concurrency: 2,
    // A loaded machine must not make a mutant look like an endless loop.
    timeoutMS: 15_000,
    tempDirName: `${reports}/work`,
    ignorePatterns: ['/native', '/bench', '/docs', '/images', '/examples', '/sdk', '/.ci', `/${reports}`],
    incremental: true,
    incrementalFile: `${reports}/${name}.incremental.json`,
    reporters: ['progress-append-only', 'clear-text', 'html', 'json'],
    clearTextReporter: { allowColor: false, reportTests: false, logTests: false },
    htmlReporter: { fileName: `${reports}/${name}.html` },
    jsonReporter: { fileName: reportOf(name) },
    thresholds: { high: 95, low: area.leastScore, break: area.leastScore },
  };
}

function reportOf(name: string): string {
  return `${reports}/${name}.json`;
}

interface Mutant {
  status: string;
  statusReason?: string;
}

function scoreIn(report: string): { text: string; unjudged: number } {
  if (!existsSync(join(home, report))) return { text: 'no report', unjudged: 0 };
  const { files }: { files: Record<string, { mutants: Mutant[] }> } = JSON.parse(
    readFileSync(join(home, report), 'utf8'),
  );
  const mutants = Object.values(files).flatMap((file) => file.mutants);
  const count = (meant: readonly string[]) => mutants.filter(({ status }) => meant.includes(status)).length;
  const detected = count(DETECTED);
  const all = detected + count(UNDETECTED);
  const unjudged = mutants.filter(({ statusReason = '' }) => statusReason.startsWith(CRASH)).length;
  const score = `${detected} of ${all} mutants detected, ${((100 * detected) / all).toFixed(1)} %`;
  return { text: unjudged > 0 ? `${score}, and ${unjudged} without a verdict` : score, unjudged };
}
