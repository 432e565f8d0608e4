/** Runs the public suites against a service, each by its own runner. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Service } from '../../support/service.ts';
import { caches, pythonOf } from '../clients/installed.ts';
import { clientEnvironment } from '../daytona/programs.ts';

/** Of each test `passes`, or why not. */
export type Outcomes = Record<string, string>;

const suites = join(caches, 'compat-suites/daytona-0.205.1');
const root = join(import.meta.dirname, '../../..');

/** Returns the reason why they are missing, or none. */
export function fetchSuites(): string | null {
  const { stdout } = spawnSync(join(import.meta.dirname, 'fetch.sh'), { encoding: 'utf8' });
  return stdout.trim() || null;
}

export async function runTypeScript(service: Service): Promise<Outcomes> {
  const report = await reportOf(service, process.execPath, (file) => [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    ...['--config', join(import.meta.dirname, 'typescript.config.ts'), '--root', suites],
    ...['--reporter=json', `--outputFile.json=${file}`],
  ]);
  const { testResults } = JSON.parse(report) as { testResults: { assertionResults: JestTest[] }[] };
  return Object.fromEntries(
    testResults.flatMap(({ assertionResults }) =>
      assertionResults.map(({ ancestorTitles, title, status, failureMessages }) => [
        [...ancestorTitles.slice(1), title].join(': '),
        status === 'passed' ? 'passes' : (failureMessages[0]?.split('\n')[0] ?? status),
      ]),
    ),
  );
}

interface JestTest {
  ancestorTitles: string[];
  title: string;
  status: string;
  failureMessages: string[];
}

export async function runPython(service: Service): Promise<Outcomes> {
  const report = await reportOf(service, pythonOf('daytona-0.226'), (file) => [
    ...['-B', '-m', 'pytest', '-p', 'no:cacheprovider', `--junitxml=${file}`, `--basetemp=${file}-files`],
    ...['test_e2e.py', 'test_async_e2e.py'].map((name) => join(suites, 'sdk-python/tests', name)),
  ]);
  const tests = report.matchAll(
    /<testcase classname="(\S*?)" name="([^"]*)"[^>]*?(?:\/>|>(.*?)<\/testcase>)/gs,
  );
  return Object.fromEntries(
    [...tests].map(([, file = '', name, inside = '']) => [
      `${file.split('.').at(-1)}: ${name}`,
      /<(?:failure|error|skipped)\b[^>]*/.exec(inside)?.[0] ?? 'passes',
    ]),
  );
}

/** Returns what the runner has written to a file. Its exit status says only that some test failed. */
async function reportOf(
  service: Service,
  program: string,
  args: (file: string) => string[],
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'sandhaven-compat-'));
  const file = join(folder, 'report');
  let said = '';
  try {
    const child = spawn(program, args(file), { cwd: folder, env: clientEnvironment(service) });
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
