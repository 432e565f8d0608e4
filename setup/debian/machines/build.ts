/**
 * Builds the disks of the emulated machines into the cache, and fetches an emulator where the machine's own will not do;
 * does nothing for one that is there. Run as root, through setup/locked.sh. Arguments name suites, and another processor
 * than the machine's (`arm64 trixie`); without any suite it is all of them.
 *
 * Invariant: a folder that a recipe's digest names is complete and on disk, since it is renamed into place last;
 * every `.build-*` folder is left over from a killed build.
 */
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { command, step } from '../../command.ts';
import { hostProcessor, processorOf, processors } from '../../processors/processor.ts';
import { bootstrapOf, isAboutItself } from '../bootstrap.ts';
import { debianMirror, sourcesOf } from '../mirror.ts';
import { ensureEmulator } from './emulator.ts';
import { customize, DISK_BYTES, imageOf, machinesStore, packagesFor, type Suite, suites } from './recipe.ts';

const isProcessor = (argument: string) => Object.hasOwn(processors, argument);
const processor = processorOf(process.argv.slice(2).find(isProcessor) ?? hostProcessor.name);
const store = machinesStore(processor);

await step('machines', async () => {
  await mkdir(store, { recursive: true, mode: 0o700 });
  await ensureEmulator(processor);
  const named = process.argv.slice(2).filter((argument) => !isProcessor(argument));
  const wanted = named.length === 0 ? suites : suites.filter((suite) => named.includes(suite));
  for (const suite of wanted) await ensure(suite);
  await removeOthers();
});

async function ensure(suite: Suite): Promise<void> {
  const { folder } = imageOf(suite, processor);
  if (existsSync(folder)) return;
  const started = performance.now();
  console.log(`machines: building ${suite} from Debian packages; this takes some minutes`);
  const work = await mkdtemp(join(store, '.build-'));
  const key = join(work, 'key');
  await command('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'machine', '-f', key]);
  const root = join(work, 'root');
  await bootstrap(suite, root, (await readFile(`${key}.pub`, 'utf8')).trim());
  await takeKernel(root, work);
  const disk = join(work, 'disk.img');
  await command('truncate', ['--size', String(DISK_BYTES), disk]);
  // Few inodes: the kernel writes their empty tables while the machine is used.
  const form = ['-t', 'ext4', '-b', '4096', '-i', '131072', '-m', '1', '-L', 'machine'];
  await command('mke2fs', ['-q', ...form, '-d', root, disk]);
  await rm(root, { recursive: true });
  await command('sync', ['--file-system', work]);
  await rename(work, folder);
  console.log(`machines: built ${suite} in ${Math.round((performance.now() - started) / 1000)} s`);
}

async function bootstrap(suite: Suite, root: string, authorizedKey: string): Promise<void> {
  const mirror = await debianMirror();
  const [program, ...first] = await bootstrapOf(processor);
  const argv = [
    ...[...first, '--variant=apt', '--format=directory'],
    `--include=${packagesFor(processor).join(',')}`,
    '--aptopt=APT::Install-Recommends "false"',
    `--customize-hook="${customize}" "$1"`,
    ...[suite, root, ...(mirror ? sourcesOf(mirror, suite) : [])],
  ];
  await command(program, argv, {
    env: { AUTHORIZED_KEY: authorizedKey },
    onLine: (line) => {
      if (!isAboutItself.test(line)) console.log(`machines: ${line.replace(/^[IW]: /, '')}`);
    },
  });
}

async function takeKernel(root: string, work: string): Promise<void> {
  for (const [prefix, name] of [
    ['vmlinuz-', 'vmlinuz'],
    ['initrd.img-', 'initrd.img'],
  ] as const) {
    const found = (await readdir(join(root, 'boot'))).filter((file) => file.startsWith(prefix)).sort();
    const newest = found.at(-1);
    if (newest === undefined) throw new Error(`the machine’s /boot has no ${prefix}…`);
    await copyFile(join(root, 'boot', newest), join(work, name));
  }
}

/** Removes the disks of earlier recipes, and what killed builds left; a running test has a payload there. */
async function removeOthers(): Promise<void> {
  const current = suites.map((suite) => basename(imageOf(suite, processor).folder));
  for (const name of await readdir(store)) {
    if (name.startsWith('payload-') || current.includes(name)) continue;
    await rm(join(store, name), { recursive: true, force: true });
  }
}
