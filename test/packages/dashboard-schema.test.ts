/** The dashboard against Grafana's own types, by the TypeScript compiler. `make grafana-schema` has installed them. */
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defaultCacheDir } from '../../src/runtime/images/cache-dir.ts';

const home = join(import.meta.dirname, '../..');
const tsc = join(home, 'node_modules/.bin/tsc');
const options = {
  ...{ strict: true, noEmit: true, skipLibCheck: true, allowImportingTsExtensions: true },
  ...{ module: 'preserve', moduleResolution: 'bundler', target: 'es2024', lib: ['es2024', 'dom'], types: [] },
};
let folder: string;
let dashboard: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sandhaven-dashboard-'));
  dashboard = await readFile(join(home, 'deploy/grafana/sandhaven.json'), 'utf8');
  await symlink(join(defaultCacheDir(), 'grafana-schema/node_modules'), join(folder, 'node_modules'));
  await copyFile(join(home, 'test/metrics/grafana/expected-types.ts'), join(folder, 'expected-types.ts'));
  const project = { compilerOptions: options, files: ['dashboard.ts'] };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(project));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

it('the dashboard is one by the types of Grafana', async () => {
  expect(await complaintsAbout(dashboard)).toBe('');
});

it.each([
  ['a field that Grafana does not know', '"graphTooltip"', '"graphToolTip"', 'graphToolTip'],
  ['a value that a field does not take', '"drawStyle": "line"', '"drawStyle": "lines"', '"lines"'],
  [
    'a field of another type',
    '"collapsed": false',
    '"collapsed": "no"',
    "'string' is not assignable to type 'boolean'",
  ],
])('%s would be found', async (_, right, wrong, named) => {
  expect(await complaintsAbout(dashboard.replace(right, wrong))).toContain(named);
});

/** @returns the compiler's errors; empty when there are none. */
async function complaintsAbout(json: string): Promise<string> {
  const source = `import type { DashboardJson } from './expected-types.ts';\nexport const dashboard: DashboardJson = ${json};\n`;
  await writeFile(join(folder, 'dashboard.ts'), source);
  return new Promise((resolve) => {
    execFile(process.execPath, [tsc, '-p', folder], (_, stdout, stderr) => resolve(stdout + stderr));
  });
}
