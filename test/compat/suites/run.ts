/** Runs the public suites against a service, each by its own runner. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { caches, pythonOf } from '../clients/installed.ts';

/** Of each test `passes`, or why not. */
export type Outcomes = Record<string, string>;

export interface Suite {
  /** Of fetch.sh. */
  files: string;
  /** Takes the variables by which a client finds the service. */
  run(env: NodeJS.ProcessEnv): Promise<Outcomes>;
}

const root = join(import.meta.dirname, '../../..');
const kept = join(caches, 'compat-suites');

/** Where fetch.sh puts them. */
export const filesOf = (files: string) => join(kept, files);

/** By the sections of expected.md. */
export const daytonaSuites: Record<string, Suite> = {
  'Daytona, TypeScript': inVitest('daytona.config.ts', {
    ...{ files: 'daytona-0.205.1', folder: '', modules: join(root, 'node_modules') },
    nameOf: ({ ancestorTitles, title }) => [...ancestorTitles.slice(1), title],
  }),
  'Daytona, Python': inPytest('daytona-0.205.1', 'daytona-0.226', [
    'sdk-python/tests/test_e2e.py',
    'sdk-python/tests/test_async_e2e.py',
  ]),
};

const withFile = ({ ancestorTitles, title }: VitestTest, file: string) => [file, ...ancestorTitles, title];

export const e2bSuites: Record<string, Suite> = {
  'E2B, JavaScript': inVitest('e2b.config.ts', {
    ...{ files: 'e2b-2.45.0', folder: 'packages/js-sdk', modules: join(kept, 'node_modules') },
    nameOf: withFile,
  }),
  'E2B templates, JavaScript': inVitest('templates.config.ts', {
    ...{ files: 'e2b-2.45.0', folder: 'packages/js-sdk', modules: join(kept, 'node_modules') },
    nameOf: withFile,
  }),
  'E2B code interpreter, JavaScript': inVitest('interpreter.config.ts', {
    ...{ files: 'e2b-code-interpreter-2.7.1', folder: 'js', modules: join(kept, 'node_modules') },
    nameOf: withFile,
  }),
  'E2B code interpreter, Python': inPytest(
    'e2b-code-interpreter-2.7.1',
    'e2b-suites',
    ['python/tests'],
    'python',
  ),
};

/** Returns the reason why the files of a suite are missing, or none. */
export function fetchSuite({ files }: Pick<Suite, 'files'>): string | null {
  const { stdout } = spawnSync(join(import.meta.dirname, 'fetch.sh'), [files], { encoding: 'utf8' });
  return stdout.trim() || null;
}

interface VitestSuite {
  files: string;
  /** Of the suite, below its files. */
  folder: string;
  /** With the runner that the suite is for. */
  modules: string;
  /** Parts of the name of a test; the file is the one below its tests. */
  nameOf(test: VitestTest, file: string): string[];
}

function inVitest(config: string, { files, folder, modules, nameOf }: VitestSuite): Suite {
  return {
    files,
    async run(env) {
      const report = await reportOf(env, process.execPath, (file) => [
        join(modules, 'vitest/vitest.mjs'),
        'run',
        ...['--config', join(import.meta.dirname, config), '--root', join(kept, files, folder)],
        ...['--reporter=json', `--outputFile.json=${file}`],
      ]);
      const { testResults } = JSON.parse(report) as { testResults: VitestFile[] };
      const outcomes = testResults.flatMap(({ name, assertionResults }) =>
        assertionResults.map((test): [string, string] => [
          nameOf(test, name.split('/tests/').at(-1) ?? '').join(': '),
          test.status === 'passed' ? 'passes' : (test.failureMessages[0]?.split('\n')[0] ?? test.status),
        ]),
      );
      return byName(outcomes);
    },
  };
}

interface VitestFile {
  name: string;
  assertionResults: VitestTest[];
}

interface VitestTest {
  ancestorTitles: string[];
  title: string;
  status: string;
  failureMessages: string[];
}

/** @param source Folder with the client, where it is not among the packages. */
function inPytest(files: string, packages: string, tests: string[], source?: string): Suite {
  const folder = join(kept, files);
  return {
    files,
    async run(env) {
      const path =
        source === undefined ? {} : { PYTHONPATH: [join(folder, source), env['PYTHONPATH']].join(':') };
      const report = await reportOf({ ...env, ...path }, pythonOf(packages), (file) => [
        ...['-B', '-m', 'pytest', '-p', 'no:cacheprovider', `--junitxml=${file}`, `--basetemp=${file}-files`],
        ...tests.map((name) => join(folder, name)),
      ]);
      const cases = report.matchAll(
        /<testcase classname="(\S*?)" name="([^"]*)"[^>]*?(?:\/>|>(.*?)<\/testcase>)/gs,
      );
      return byName(
        [...cases].map(([, file = '', name, inside = '']) => [
          `${file.split('.').at(-1)}: ${name}`,
          /<(?:failure|error|skipped)\b[^>]*/.exec(inside)?.[0] ?? 'passes',
        ]),
      );
    },
  };
}

/** Tests of one name are numbered from the second on. */
function byName(outcomes: [name: string, outcome: string][]): Outcomes {
  const all: Outcomes = {};
  for (const [name, outcome] of outcomes) {
    let own = name;
    for (let count = 2; own in all; count++) own = `${name} (${count})`;
    all[own] = outcome;
  }
  return all;
}

/** Returns what the runner has written to a file. Its exit status says only that some test failed. */
async function reportOf(
  env: NodeJS.ProcessEnv,
  program: string,
  args: (file: string) => string[],
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'sandhaven-compat-'));
  const file = join(folder, 'report');
  let said = '';
  try {
    const child = spawn(program, args(file), { cwd: folder, env });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        said += chunk;
      });
    }
    await once(child, 'close');
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`the suite left no report:\n${said}`, { cause: error });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
