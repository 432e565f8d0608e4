/** Builds web/dist, when what it is made of has changed since. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const home = join(import.meta.dirname, '..', '..');
const web = join(home, 'web');
/** Holds the hash of the sources that the page beside it was built from. */
const stamp = join(web, 'dist', '.sources');

const wanted = hashOfSources();
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
  console.info('page: building');
  const vite = join(web, 'node_modules', 'vite', 'bin', 'vite.js');
  const { status } = spawnSync(process.execPath, [vite, 'build', '--logLevel', 'warn'], {
    cwd: web,
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(1);
  writeFileSync(stamp, wanted);
}

function hashOfSources(): string {
  const files = globSync(['web/{src,build}/**/*', 'web/*.{html,json,ts}', 'sdk/src/*.ts'], { cwd: home });
  const hash = createHash('sha256');
  for (const file of files.toSorted()) {
    const path = join(home, file);
    if (!statSync(path).isFile()) continue;
    hash.update(`${file}\0`).update(readFileSync(path)).update('\0');
  }
  return hash.digest('hex');
}
