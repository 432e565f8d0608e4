/**
 * The packages that a service gives to its own users, in packages/dist: the npm packages, the Python package, and the packages
 * that programs with that one need, as their makers built them. They are made again when their sources have changed.
 */
import { cp, mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buildPython } from '../../sdk-python/build/dist.ts';
import { command, step } from '../command.ts';
import { whenChanged } from '../when-changed.ts';
import { packAll } from './dist-npm.ts';

const home = join(import.meta.dirname, '..', '..');
const folder = join(home, 'packages', 'dist');

const SOURCES = [
  'LICENSE',
  'package.json',
  'package-lock.json',
  'bin/sandhaven-askpass',
  'packages/{cli,mcp}/{src/**/*,*}',
  'sdk/{src/**/*,*}',
  'sdk-python/{src/**/*.py,src/**/py.typed,build/*,generate/*,*}',
  'sdk/generate/*',
  'setup/{release,sbom,images}/*.ts',
  'src/**/*.ts',
];

await step('packages', () =>
  whenChanged(home, join(folder, '.sources'), SOURCES, async () => {
    console.info('packages: building those that the service gives to its users');
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder);
    await Promise.all([packAll(folder), buildPython(folder), copyDependencies()]);
    const others = (await readdir(folder)).filter((name) => !/\.(?:tgz|whl)$/.test(name));
    for (const name of others) await rm(join(folder, name));
  }),
);

async function copyDependencies(): Promise<void> {
  const python = (await command(join(home, 'sdk-python/build/python-path.sh'), [])).trim();
  await cp(join(dirname(python), '..', 'dependencies'), folder, { recursive: true });
}
