/** Builds web/dist, when what it is made of has changed since. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { whenChanged } from '../../setup/when-changed.ts';

const home = join(import.meta.dirname, '..', '..');
const web = join(home, 'web');
const sources = ['web/{src,build}/**/*', 'web/*.{html,json,ts}', 'sdk/src/*.ts'];

await whenChanged(home, join(web, 'dist', '.sources'), sources, async () => {
  console.info('page: building');
  const vite = join(web, 'node_modules', 'vite', 'bin', 'vite.js');
  const { status } = spawnSync(process.execPath, [vite, 'build', '--logLevel', 'warn'], {
    cwd: web,
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(1);
});
