/**
 * Builds an image of the service's own from its recipe, a folder of images/, into <cache>/<name>/<recipe digest>/
 * {rootfs/,image.json} and points <cache>/<name>/current at it; does nothing when that already exists. Run as root,
 * through setup/locked.sh.
 *
 * Invariant: a folder named by a recipe's digest is complete and on disk, since it is renamed into place last; every
 * `.build-*` folder is left over from a killed build.
 */
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { type ImageRecord, imageConfig, readImageRecord } from '../../src/runtime/images/registry/record.ts';
import { startProgram } from '../../src/runtime/start-program.ts';
import { command } from '../command.ts';
import { bootstrapOf, isAboutItself } from '../debian/bootstrap.ts';
import { type DebianMirror, debianMirror } from '../debian/mirror.ts';
import { cacheFolder } from '../processors/cache.ts';
import { nodeOf } from '../processors/node.ts';
import { hostProcessor, isForeign, type Processor } from '../processors/processor.ts';

/**
 * Its folder holds packages.txt, apt.conf, dpkg.cfg, config.json, npm/ with a lock file, and customize.sh, which
 * turns the fresh root into the image, with RECIPE, NODE_DIST and LOCAL_CAS in its environment.
 */
export interface Recipe {
  /** Name of the image, and of its folder in images/ and in the cache. */
  name: string;
  suite: string;
  /** Lines of a sources.list, for the machine's mirror. */
  sources(mirror: DebianMirror): string[];
  /** Makes the further environment of customize.sh, given the folder where npm/'s packages are installed. */
  hookEnvironment(nodeModules: string): Promise<Record<string, string>>;
}

const LOCAL_CAS = '/usr/local/share/ca-certificates';

const home = join(import.meta.dirname, '../..');

/** @param processor Of the image's programs; one that is not the machine's is emulated, ten times slower. */
export async function buildImage(recipe: Recipe, processor = hostProcessor): Promise<void> {
  const store = cacheFolder(recipe.name, processor);
  await mkdir(store, { recursive: true, mode: 0o700 });
  const key = await recipeDigest(recipe, processor);
  const existing = await readImageRecord(join(store, key));
  if (existing === null) await build(recipe, processor, join(store, key));
  await pointCurrentAt(store, key);
  await removeAllBut(store, key);
  if (existing) say(recipe, `ready (${megabytes(existing.sizeBytes)})`);
}

/** Digest of everything that decides the image's contents, except the state of the Debian archive. */
async function recipeDigest({ name, suite }: Recipe, processor: Processor): Promise<string> {
  const hash = createHash('sha256').update(`${processor.name} ${suite}\0`);
  hash.update(await readFile(join(await nodeOf(processor), 'package.json')));
  for (const folder of [folderOf(name), LOCAL_CAS]) {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((e) => join(e.parentPath, e.name));
    for (const file of files.sort()) {
      const content = await readFile(file);
      hash.update(`${relative(folder, file)}\0${content.length}\0`).update(content);
    }
  }
  return hash.digest('hex');
}

async function build(recipe: Recipe, processor: Processor, final: string): Promise<void> {
  const started = performance.now();
  const duration = isForeign(processor)
    ? 'ten minutes or more, with an emulated processor'
    : 'a minute or two';
  say(recipe, `building from Debian packages; this takes ${duration}`);
  const folder = await mkdtemp(join(dirname(final), '.build-'));
  const rootfs = join(folder, 'rootfs');
  await bootstrap(recipe, processor, folder, rootfs);
  // Emptied here and not in the hook: mmdebstrap keeps apt's configuration in the root's /tmp, and without it
  // the host's applies.
  for (const path of ['dev', 'tmp', 'var/lib/apt/lists']) await emptyFolder(join(rootfs, path));
  await refuseWideIds(rootfs);
  const record = await describe(recipe, rootfs);
  await writeFile(join(folder, 'image.json'), `${JSON.stringify(record, null, 2)}\n`);
  await command('sync', ['--file-system', folder]);
  await rename(folder, final);
  const seconds = Math.round((performance.now() - started) / 1000);
  say(recipe, `built in ${seconds} s (${megabytes(record.sizeBytes)})`);
}

async function bootstrap(
  recipe: Recipe,
  processor: Processor,
  folder: string,
  rootfs: string,
): Promise<void> {
  const source = folderOf(recipe.name);
  const npm = join(folder, 'npm');
  await cp(join(source, 'npm'), npm, { recursive: true });
  await command('npm', [
    'ci',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    '--prefix',
    npm,
  ]);
  const packages = (await readFile(join(source, 'packages.txt'), 'utf8'))
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const mirror = await debianMirror();
  const [program, ...argv] = await bootstrapOf(processor);
  await command(
    program,
    [
      ...[...argv, '--variant=minbase', '--format=directory'],
      `--include=${packages.join(',')}`,
      `--aptopt=${join(source, 'apt.conf')}`,
      `--dpkgopt=${join(source, 'dpkg.cfg')}`,
      '--customize-hook="$RECIPE"/customize.sh "$1"',
      ...[recipe.suite, rootfs, ...(mirror ? recipe.sources(mirror) : [])],
    ],
    {
      env: {
        ...{ RECIPE: source, NODE_DIST: await nodeOf(processor), LOCAL_CAS },
        ...(await recipe.hookEnvironment(join(npm, 'node_modules'))),
      },
      onLine: (line) => {
        if (!isAboutItself.test(line)) say(recipe, line.replace(/^[IW]: /, ''));
      },
    },
  );
  await rm(npm, { recursive: true });
}

/** A sandbox has ids 0 to 65,535; a file with a higher one would have no owner. */
async function refuseWideIds(rootfs: string): Promise<void> {
  const found = await command('find', [rootfs, '(', '-uid', '+65535', '-o', '-gid', '+65535', ')']);
  if (found !== '') throw new Error(`files with ids over 65535: ${found.slice(0, 1000)}`);
}

async function describe({ name }: Recipe, rootfs: string): Promise<ImageRecord> {
  const config = imageConfig.parse(JSON.parse(await readFile(join(folderOf(name), 'config.json'), 'utf8')));
  const [size = ''] = (await command('du', ['--bytes', '--summarize', rootfs])).split('\t');
  const digest = await contentDigest(rootfs);
  return { digest, reference: name, sizeBytes: Number(size), madeAt: Date.now(), ...config };
}

/** Digest of names, metadata and contents: two builds of one recipe are two images, as their packages may differ. */
async function contentDigest(rootfs: string): Promise<string> {
  const tar = await startProgram('tar', [
    ...['--sort=name', '--numeric-owner', '--format=posix', '--xattrs', '--xattrs-include=*'],
    '--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime',
    ...['-C', rootfs, '-cf', '-', '.'],
  ]);
  const exit = new Promise<number | null>((resolve) => tar.once('close', resolve));
  tar.stderr.pipe(process.stderr);
  const hash = createHash('sha256');
  for await (const chunk of tar.stdout) hash.update(chunk);
  if ((await exit) !== 0) throw new Error('tar could not read the image');
  return hash.digest('hex');
}

async function pointCurrentAt(store: string, key: string): Promise<void> {
  const link = join(store, '.current');
  await rm(link, { force: true });
  await symlink(key, link);
  await rename(link, join(store, 'current'));
}

/** Safe while in use: services have hard links of their own to the images they use. */
async function removeAllBut(store: string, key: string): Promise<void> {
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

function folderOf(name: string): string {
  return join(home, 'images', name);
}

function say({ name }: Recipe, text: string): void {
  console.log(`${name} image: ${text}`);
}
