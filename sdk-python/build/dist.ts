/**
 * `make dist-python`: the package as a wheel and as its source, into dist/ or the folder that is given. The same source makes the
 * same bytes.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { command, step } from '../../setup/command.ts';
import { generatedPython } from '../generate/python.ts';

const home = join(import.meta.dirname, '..', '..');
const source = join(home, 'sdk-python');
/** Of every file in the package: 1980, since a wheel is a zip file, which knows no earlier year. */
const EPOCH_SECONDS = '315532800';
const parts = ['pyproject.toml', 'README.md', 'src'];

if (import.meta.main) {
  await step('dist-python', async () => {
    for (const file of await buildPython(resolve(process.argv[2] ?? join(home, 'dist')))) console.info(file);
  });
}

/** Returns the paths of both files. */
export async function buildPython(folder: string): Promise<string[]> {
  const python = (await command(join(source, 'build', 'python-path.sh'), [])).trim();
  const room = mkdtempSync(join(tmpdir(), 'sandhaven-python-'));
  try {
    writeSource(room);
    const argv = ['-m', 'hatchling', 'build', '-t', 'sdist', '-t', 'wheel', '-d', folder];
    await command(python, argv, { cwd: room, env: { SOURCE_DATE_EPOCH: EPOCH_SECONDS } });
  } finally {
    rmSync(room, { recursive: true });
  }
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { version: string };
  return [`sandhaven-${version}-py3-none-any.whl`, `sandhaven-${version}.tar.gz`].map((file) =>
    join(folder, file),
  );
}

/** The whole package into a folder: what is written by hand, and what is made. Nothing of an earlier run is beside it, such as compiled files. */
export function writeSource(folder: string): void {
  for (const part of parts) {
    const filter = (path: string) => !path.endsWith('__pycache__');
    cpSync(join(source, part), join(folder, part), { recursive: true, filter });
  }
  for (const [file, generate] of Object.entries(generatedPython))
    writeFileSync(join(folder, file), generate());
}
