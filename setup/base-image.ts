/**
 * Builds the base image from images/base into <cache>/base/<recipe digest>/{rootfs/,image.json} and points
 * <cache>/base/current at it; does nothing when that is there already. Run as root, through setup/locked.sh.
 *
 * Invariant: a folder that carries a recipe's digest is complete and on disk, since it is renamed into place
 * last; whatever begins with `.build-` is left over from a build that was killed.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { arch } from 'node:os';
import { join, relative } from 'node:path';
import { defaultCacheDir } from '../src/runtime/images/cache-dir.ts';
import { type ImageRecord, imageConfig, readImageRecord } from '../src/runtime/images/record.ts';
import { command, step } from './command.ts';
import { debianMirror, sourcesOf } from './debian-mirror.ts';

const SUITE = 'trixie';
const LOCAL_CAS = '/usr/local/share/ca-certificates';

/** Of what mmdebstrap says: how it found its own settings. */
const uninteresting = /automatically chosen|chroot architecture|finding correct|running --customize-hook/;

const home = join(import.meta.dirname, '..');
const recipe = join(home, 'images/base');
const nodeDist = join(home, `node_modules/node-linux-${arch()}`);
const store = join(defaultCacheDir(), 'base');

await step('base image', main);

async function main(): Promise<void> {
  await mkdir(store, { recursive: true, mode: 0o700 });
  const key = await recipeDigest();
  const existing = await readImageRecord(join(store, key));
  if (existing === null) await build(key);
  await pointCurrentAt(key);
  await removeAllBut(key);
  if (existing) say(`ready (${megabytes(existing.sizeBytes)})`);
}

/** Of everything that decides what is in the image, save the state of the Debian archive. */
async function recipeDigest(): Promise<string> {
  const hash = createHash('sha256').update(`${arch()} ${SUITE}\0`);
  hash.update(await readFile(join(nodeDist, 'package.json')));
  for (const folder of [recipe, LOCAL_CAS]) {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((e) => join(e.parentPath, e.name));
    for (const file of files.sort()) {
      const content = await readFile(file);
      hash.update(`${relative(folder, file)}\0${content.length}\0`).update(content);
    }
  }
  return hash.digest('hex');
}

async function build(key: string): Promise<void> {
  const started = performance.now();
  say('building from Debian packages; this takes a minute or two');
  const folder = await mkdtemp(join(store, '.build-'));
  const rootfs = join(folder, 'rootfs');
  await bootstrap(folder, rootfs);
  // Not in the hook: mmdebstrap keeps apt's configuration in the root's /tmp, and without it the host's applies.
  for (const path of ['dev', 'tmp', 'var/lib/apt/lists']) await emptyFolder(join(rootfs, path));
  await refuseWideIds(rootfs);
  const record = await describe(rootfs);
  await writeFile(join(folder, 'image.json'), `${JSON.stringify(record, null, 2)}\n`);
  await command('sync', ['--file-system', folder]);
  await rename(folder, join(store, key));
  const seconds = Math.round((performance.now() - started) / 1000);
  say(`built in ${seconds} s (${megabytes(record.sizeBytes)})`);
}

/** In a mount namespace of its own, so that no mount of a killed build is left on the machine. */
async function bootstrap(folder: string, rootfs: string): Promise<void> {
  const npm = join(folder, 'npm');
  await cp(join(recipe, 'npm'), npm, { recursive: true });
  await command('npm', [
    'ci',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    '--prefix',
    npm,
  ]);
  const packages = (await readFile(join(recipe, 'packages.txt'), 'utf8'))
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const mirror = await debianMirror();
  await command(
    'unshare',
    [
      ...['--mount', '--propagation', 'private', 'mmdebstrap', '--variant=minbase', '--format=directory'],
      `--include=${packages.join(',')}`,
      `--aptopt=${join(recipe, 'apt.conf')}`,
      `--dpkgopt=${join(recipe, 'dpkg.cfg')}`,
      '--customize-hook="$RECIPE"/customize.sh "$1"',
      ...[SUITE, rootfs, ...(mirror ? sourcesOf(mirror, SUITE) : [])],
    ],
    {
      env: { RECIPE: recipe, NODE_DIST: nodeDist, NPM_DIST: join(npm, 'node_modules/npm'), LOCAL_CAS },
      onLine: (line) => {
        if (!uninteresting.test(line)) say(line.replace(/^[IW]: /, ''));
      },
    },
  );
  await rm(npm, { recursive: true });
}

/** A sandbox has ids 0 to 65,535; a file of another would be nobody's. */
async function refuseWideIds(rootfs: string): Promise<void> {
  const found = await command('find', [rootfs, '(', '-uid', '+65535', '-o', '-gid', '+65535', ')']);
  if (found !== '') throw new Error(`files with ids over 65535: ${found.slice(0, 1000)}`);
}

async function describe(rootfs: string): Promise<ImageRecord> {
  const config = imageConfig.parse(JSON.parse(await readFile(join(recipe, 'config.json'), 'utf8')));
  const [size = ''] = (await command('du', ['--bytes', '--summarize', rootfs])).split('\t');
  return { digest: await contentDigest(rootfs), reference: 'base', sizeBytes: Number(size), ...config };
}

/** Of names, metadata and contents: two builds of one recipe are two images, as their packages may differ. */
async function contentDigest(rootfs: string): Promise<string> {
  const tar = spawn('tar', [
    ...['--sort=name', '--numeric-owner', '--format=posix', '--xattrs', '--xattrs-include=*'],
    '--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime',
    ...['-C', rootfs, '-cf', '-', '.'],
  ]);
  const exit = new Promise<number | null>((resolve) => tar.once('close', resolve));
  const hash = createHash('sha256');
  for await (const chunk of tar.stdout) hash.update(chunk);
  if ((await exit) !== 0) throw new Error('tar could not read the image');
  return hash.digest('hex');
}

async function pointCurrentAt(key: string): Promise<void> {
  const link = join(store, '.current');
  await rm(link, { force: true });
  await symlink(key, link);
  await rename(link, join(store, 'current'));
}

/** Services have hard links of their own to the images they use. */
async function removeAllBut(key: string): Promise<void> {
  for (const name of await readdir(store)) {
    if (name !== key && name !== 'current') await rm(join(store, name), { recursive: true });
  }
}

async function emptyFolder(folder: string): Promise<void> {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true });
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}

function say(text: string): void {
  console.log(`base image: ${text}`);
}
