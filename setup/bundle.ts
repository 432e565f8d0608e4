/**
 * `make bundle`: the program in a few large modules, in bundle/. Node loads them in half the time that a thousand sources take, so that
 * each command and each service starts sooner. `bin/sandhaven` uses them unless a source is newer. Libraries stay in node_modules, but
 * for the one that every command needs.
 */
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';
import { whenChanged } from './when-changed.ts';

const home = join(import.meta.dirname, '..');
const folder = join(home, 'bundle');
const made = join(folder, 'made');
const program = 'main.mjs';

/** The modules that Node begins with: of the program, and of its threads by `threadModule`. */
const entries = ['main', 'app/ssh-worker', 'store/sqlite/checkpoint'];

/** Older modules stay so long: a service that runs loads some of its own later. */
const KEPT_MS = 7 * 24 * 3_600_000;

const begun = new Date();
await whenChanged(
  home,
  join(folder, 'stamp'),
  ['src/**', 'package-lock.json', 'setup/bundle.ts'],
  async () => {
    console.log('bundle: joining the modules of the program');
    await rm(made, { recursive: true, force: true });
    const bundle = await rolldown({
      cwd: home,
      platform: 'node',
      input: Object.fromEntries(entries.map((name) => [name, `src/${name}.ts`])),
      external: (id) => !/^(?:[./]|zod$)/.test(id),
      onwarn: (warning) => {
        throw new Error(`bundle: ${warning.message}`);
      },
    });
    await bundle.write({ dir: made, entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' });
    await removeOld();
    await moveIn();
  },
);
// Sources that were written anew without a change are older again.
await utimes(join(folder, program), begun, begun);

async function removeOld(): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const { mtimeMs } = await stat(path);
    if (name.endsWith('.mjs') && mtimeMs < begun.getTime() - KEPT_MS) await rm(path);
  }
}

/** The program comes last: a command that starts meanwhile finds all that it names. */
async function moveIn(): Promise<void> {
  const files = (await readdir(made, { recursive: true })).filter((name) => name.endsWith('.mjs'));
  for (const file of [...files.filter((name) => name !== program), program]) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await rename(join(made, file), join(folder, file));
  }
  await rm(made, { recursive: true });
}
