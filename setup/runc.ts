/**
 * Provides a runc without the known vulnerabilities, for the service alone: the machine's own where that is
 * sound, else one under <cache>/runc/<version>-<digest>/ to which <cache>/runc/current points. It comes from Debian's
 * unstable suite, with its libraries beside it, or is built by Go. The machine's packages stay unchanged.
 *
 * Invariant: `current` is a folder whose runc has been run successfully.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isVulnerable, parseRuncVersion } from '../src/runtime/oci/machine/machine-runtime.ts';
import { command, step } from './command.ts';
import { downloadPackages, unpackPackages } from './debian/packages.ts';
import { cacheFolder } from './processors/cache.ts';
import { runnable } from './processors/emulator.ts';
import { hostProcessor, isForeign, type Processor } from './processors/processor.ts';

const GO_MODULE = 'github.com/opencontainers/runc@v1.3.6';

if (import.meta.main) await step('runc', main);

async function main(): Promise<void> {
  if ((await soundVersion(join(cacheFolder('runc', hostProcessor), 'current/runc'), hostProcessor)) !== null)
    return;
  if ((await soundVersion('/usr/sbin/runc', hostProcessor)) !== null) return;
  await fetchRunc(hostProcessor);
}

/** Returns a folder with a sound runc that carries its libraries; fetches one where only the machine's own is sound. */
export async function soundRunc(processor: Processor): Promise<string> {
  const folder = join(cacheFolder('runc', processor), 'current');
  if ((await soundVersion(join(folder, 'runc'), processor)) === null) await fetchRunc(processor);
  return folder;
}

async function fetchRunc(processor: Processor): Promise<void> {
  const store = cacheFolder('runc', processor);
  const whose = isForeign(processor) ? `Debian’s for ${processor.debian}` : 'the machine’s';
  console.log(`runc: fetching one without the holes of ${whose} (CVE-2025-31133, -52565, -52881)`);
  await mkdir(store, { recursive: true, mode: 0o700 });
  for (const name of await readdir(store)) await rm(join(store, name), { recursive: true });
  const folder = await firstThatWorks(
    processor,
    isForeign(processor) ? [fromDebianUnstable] : [fromDebianUnstable, fromGo],
  );
  const link = join(store, '.current');
  await symlink(basename(folder), link);
  await rename(link, join(store, 'current'));
  console.log(`runc: ${await soundVersion(join(folder, 'runc'), processor)} in ${folder}`);
}

/** Returns the version; null when runc is missing, does not run, or is vulnerable. */
async function soundVersion(runc: string, processor: Processor): Promise<string | null> {
  if (!existsSync(runc)) return null;
  const [program, first] = await runnable(processor, runc);
  const output = await command(program, [...first, '--version']).catch(() => '');
  const version = parseRuncVersion(output);
  return version && !isVulnerable(version) ? version.text : null;
}

type Source = (work: string, processor: Processor) => Promise<string>;

async function firstThatWorks(processor: Processor, sources: Source[]): Promise<string> {
  const failures: string[] = [];
  for (const source of sources) {
    const work = await mkdtemp(join(cacheFolder('runc', processor), '.work-'));
    try {
      return await source(work, processor);
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error));
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  }
  const advice =
    'Install Go 1.24 or later and run this again, or put a runc of 1.3.3 or later at /usr/sbin/runc.';
  throw new Error(`no sound runc could be had.\n${failures.join('\n')}\n${advice}`);
}

async function fromDebianUnstable(work: string, processor: Processor): Promise<string> {
  const { debian, triplet, loader } = processor;
  const packages = await downloadPackages(work, 'sid', ['runc', 'libc6', 'libseccomp2'], debian);
  await unpackPackages(packages, join(work, 'root'));
  const made = join(work, 'made');
  await mkdir(made);
  const libraries = join(work, 'root/usr/lib', triplet);
  for (const name of [loader, 'libc.so.6', 'libseccomp.so.2']) {
    await copyFile(join(libraries, name), join(made, name));
  }
  const runc = join(made, 'runc');
  await copyFile(join(work, 'root/usr/sbin/runc'), runc);
  const version = /_([^_]+)_/.exec(basename(packages[0] ?? ''))?.[1] ?? 'unknown';
  const final = join(
    cacheFolder('runc', processor),
    `${version.replace(/[^\w.+-]/g, '')}-${await digestOf(packages)}`,
  );
  await command('patchelf', [
    '--set-interpreter',
    join(final, loader),
    '--force-rpath',
    '--set-rpath',
    final,
    runc,
  ]);
  return install(made, final, processor);
}

/** Static, so that it needs no libraries beside it. */
async function fromGo(work: string, processor: Processor): Promise<string> {
  await command('setup/apt.sh', ['libseccomp-dev', 'pkg-config'], { cwd: join(import.meta.dirname, '..') });
  await command(
    'go',
    ['install', '-tags=seccomp,netgo,osusergo', '-ldflags=-s -w -extldflags -static', GO_MODULE],
    {
      env: { GOBIN: join(work, 'made'), CGO_ENABLED: '1', GOFLAGS: '' },
    },
  );
  const version = GO_MODULE.split('@v')[1];
  const digest = await digestOf([join(work, 'made/runc')]);
  return install(join(work, 'made'), join(cacheFolder('runc', processor), `${version}-${digest}`), processor);
}

async function install(made: string, final: string, processor: Processor): Promise<string> {
  await command('sync', ['--file-system', made]);
  await rename(made, final);
  if ((await soundVersion(join(final, 'runc'), processor)) === null) {
    await rm(final, { recursive: true });
    throw new Error('the fetched runc does not run here, or is vulnerable too');
  }
  return final;
}

async function digestOf(files: string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const file of files) hash.update(await readFile(file));
  return hash.digest('hex').slice(0, 16);
}
