/**
 * `make quick`: types (of the page too, where its packages are), format and lint, and the quick tests of test/quick.ts, side by side. Ends with the counts and the
 * seconds. An argument leaves only the tests with it in their path; types, format and lint are always of everything.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { testFiles } from '../test/quick.ts';
import { reportTo, testSummary } from './test-summary.ts';

interface Outcome {
  name: string;
  passed: boolean;
  said: string;
}

const home = join(import.meta.dirname, '..');
/** What the tests' files take at most at one time, and more. */
const ROOM_BYTES = 1024 ** 3;

// It reaches the children as well; once they have ended, their files are removed.
process.on('SIGINT', () => {});
process.exitCode = (await quick(process.argv[2] ?? '')) ? 0 : 1;

async function quick(part: string): Promise<boolean> {
  const begun = performance.now();
  const isMeant = (file: string) => file.toLowerCase().includes(part.toLowerCase());
  const files = testFiles();
  const [meant, others] = [files.quick.filter(isMeant), files.others.filter(isMeant)];
  if (meant.length === 0) {
    console.error(
      `quick: no quick test has "${part}" in its path; make test runs ${others.length} others that have`,
    );
    return false;
  }
  const folder = mkdtempSync(join(roomForFiles(), 'sandhaven-quick-'));
  try {
    const beside = [
      check('types', ['tsc', '--noEmit']),
      ...(hasPagePackages() ? [check('types-of-the-page', ['tsc', '-p', 'web'])] : []),
      check('format-and-lint', ['biome', 'check', '.']),
    ];
    const report = join(folder, 'report.json');
    console.info('== tests');
    const args = testArguments(part === '' ? [] : meant, report);
    const outcomes = [await check('tests', args, { output: 'inherit', folder })];
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

/** `make build` installs them; without them the types of the page wait for `make test`, so that this needs no more. */
function hasPagePackages(): boolean {
  const args = [join(home, 'setup', 'dependencies-match.ts'), 'web'];
  const there = spawnSync(process.execPath, args, { stdio: 'ignore' }).status === 0;
  if (!there)
    console.info('quick: the packages of web/ are not installed, so its types are not checked here');
  return there;
}

function testArguments(files: string[], report: string): string[] {
  return [
    'vitest',
    'run',
    '--project=quick',
    '--silent=passed-only',
    '--configLoader=native',
    ...reportTo(report),
    ...files,
  ];
}

/** In memory where it is: thousands of times a test waits for the disk, which is not what it checks. */
function roomForFiles(): string {
  const memory = '/dev/shm';
  if (!existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize < ROOM_BYTES ? tmpdir() : memory;
}

/** Runs a program of npm's packages to its end, whatever that is. */
async function check(
  name: string,
  argv: string[],
  { output = 'pipe', folder = tmpdir() }: { output?: 'pipe' | 'inherit'; folder?: string } = {},
): Promise<Outcome> {
  const [program = '', ...args] = argv;
  const child = spawn(process.execPath, [join(home, 'node_modules/.bin', program), ...args], {
    cwd: home,
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', output, output],
  });
  const ended = new Promise<boolean>((resolve, reject) => {
    child.once('error', reject).once('close', (status) => resolve(status === 0));
  });
  const parts = [child.stdout, child.stderr].map((stream) => (stream ? text(stream) : ''));
  const [passed, ...said] = await Promise.all([ended, ...parts]);
  return { name, passed, said: said.join('') };
}
