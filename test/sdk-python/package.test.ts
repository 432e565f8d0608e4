/** The Python package as others install it: built, installed, type-checked, run against a scripted and a real service. */
import { createHash } from 'node:crypto';
import { cpSync, globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildPython, writeSource } from '../../sdk-python/build/dist.ts';
import { tools } from '../../src/catalog/index.ts';
import { version } from '../../src/home.ts';
import { configurationsFor } from '../../web/src/connect/configurations.ts';
import { root, run, succeeds } from '../support/sdk-package.ts';
import { type Service, startService } from '../support/service.ts';
import { everyTool } from '../system/every-tool/every-tool.ts';
import { walkedFlags } from '../system/every-tool/snapshots.ts';
import { openBridge } from './bridge.ts';

const home = join(root, 'sdk-python');
let folder: string;
/** The whole source, with what is made of it, and its tests. */
let source: string;
let python: string;
let built: string[];
let service: Service;
/** Runs Python with the wheel, and with nothing of the source. */
let environment: Record<string, string>;

beforeAll(async () => {
  python = (await succeeds(join(home, 'build', 'python-path.sh'), [], root)).trim();
  folder = await mkdtemp(join(tmpdir(), 'sandhaven-sdk-python-'));
  built = await buildPython(join(folder, 'dist'));
  source = join(folder, 'source');
  writeSource(source);
  cpSync(join(home, 'test'), join(source, 'test'), { recursive: true });
  const site = join(folder, 'site');
  await succeeds(python, ['-m', 'pip', ...INSTALL, '--target', site, built[0] ?? ''], folder);
  environment = { PYTHONPATH: site, PYTHONDONTWRITEBYTECODE: '1', RUFF_NO_CACHE: 'true' };
  service = await startService({ flags: walkedFlags });
}, 300_000);

const INSTALL = [
  'install',
  '--quiet',
  '--disable-pip-version-check',
  '--no-index',
  '--no-deps',
  '--no-compile',
];

afterAll(async () => {
  await service?.stop();
  if (folder) await rm(folder, { recursive: true, force: true });
}, 60_000);

describe('the Python package', () => {
  it('holds Python with its types and nothing else, and depends on httpx alone', () => {
    const site = join(folder, 'site');
    const files = globSync('**/*', { cwd: site, withFileTypes: true }).filter((entry) => entry.isFile());
    const names = files.map(({ name }) => name);
    expect(names).toContain('py.typed');
    // The rest are records of the installation.
    expect(names.filter((name) => !/\.py$|^py\.typed$/.test(name)).toSorted()).toEqual(
      ['INSTALLER', 'LICENSE', 'METADATA', 'RECORD', 'REQUESTED', 'WHEEL', 'direct_url.json'].toSorted(),
    );
    const [metadata = ''] = globSync('*.dist-info/METADATA', { cwd: site });
    const lines = readFileSync(join(site, metadata), 'utf8').split('\n');
    expect(lines).toContain('Name: sandhaven');
    expect(lines).toContain(`Version: ${version}`);
    expect(lines).toContain('Requires-Python: >=3.10');
    expect(lines.filter((line) => line.startsWith('Requires-Dist'))).toEqual([
      'Requires-Dist: httpx<1,>=0.27',
    ]);
  });

  it('is the same bytes each time', async () => {
    const again = await buildPython(join(folder, 'again'));
    const digest = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');
    expect(again.map(digest)).toEqual(built.map(digest));
    expect(new Set(again.map(digest)).size).toBe(2);
  }, 60_000);

  it.each([
    ['mypy', ['mypy', '--cache-dir', '/dev/null', 'src', 'test']],
    ['ruff', ['ruff', 'check', '.']],
    ['the format', ['ruff', 'format', '--check', '.']],
  ])(
    'passes %s',
    async (_name, args) => {
      const paths = {
        ...environment,
        MYPYPATH: `${join(source, 'src')}:${join(source, 'test')}`,
        PYTHONPATH: '',
      };
      expect(await run(python, ['-m', ...args], source, paths)).toMatchObject({ status: 0, stderr: '' });
    },
    180_000,
  );

  it('[WIRE-SDK-01] gives a consumer its types, and finds mistakes', async () => {
    // Without the settings of this project, and with the installed package, as for any other program.
    const consumer = join(home, 'test', 'types', 'consumer.py');
    const args = ['-m', 'mypy', '--strict', '--config-file', '', '--cache-dir', '/dev/null', consumer];
    const checked = await run(python, args, folder, { ...environment, MYPYPATH: join(folder, 'site') });
    expect(checked).toMatchObject({ status: 0, stderr: '' });
  }, 180_000);

  it('retries, streams and refuses as the TypeScript one does, and works against a real service', async () => {
    const env = { ...environment, SANDBOX_API_URL: service.url, SANDBOX_API_KEY: service.apiKey };
    const { status, stdout } = await run(
      python,
      ['-m', 'pytest', '--quiet', '-p', 'no:cacheprovider'],
      source,
      env,
    );
    expect(status, stdout).toBe(0);
    expect(stdout).toMatch(/^\d+ passed in /m);
  }, 400_000);

  it('runs the program that the page shows', async () => {
    const shown = configurationsFor(service.url, 'none').find(({ id }) => id === 'python')?.text ?? '';
    const ran = await run(python, ['-c', shown], folder, { ...environment, ...credentials() });
    expect(ran).toMatchObject({ status: 0, stderr: '' });
    expect(ran.stdout).toMatch(/^Linux /);
  }, 60_000);

  it.each(['sync', 'async'])(
    '[WIRE-SDK-01, SBX-TOOLS-02] calls every tool of the catalogue (%s)',
    async (kind) => {
      const bridge = openBridge(python, kind, { ...environment, ...credentials() });
      const used = new Set<string>();
      try {
        await everyTool(async (tool, parameters = {}) => {
          used.add(`Sandbox.${tool}`);
          const { result, problem } = await bridge.invoke(tool, parameters);
          if (problem) throw new Error(`${tool}: ${JSON.stringify(problem)}`);
          return result;
        }, service);
        const { problem } = await bridge.invoke('CreateSandbox', { cpu: 99 });
        expect(problem).toMatchObject({ code: 'invalid_argument', parameter: 'cpu', status: 400 });
      } finally {
        await bridge.close();
      }
      const sandboxTools = tools.map(({ name }) => name).filter((name) => name.startsWith('Sandbox.'));
      expect([...used].toSorted()).toEqual(sandboxTools.toSorted());
    },
    300_000,
  );

  function credentials(): Record<string, string> {
    return { SANDBOX_API_URL: service.url, SANDBOX_API_KEY: service.apiKey };
  }
});
