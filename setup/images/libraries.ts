/**
 * Debian's shared libraries and certificates for the image of the service, in <cache>/image-libraries/<revision>-<arch>/.
 *
 * Invariant: the folder is complete, since it is renamed into place last.
 */
import { existsSync } from 'node:fs';
import { cp, glob, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { arch } from 'node:os';
import { dirname, join } from 'node:path';
import { defaultCacheDir } from '../../src/runtime/images/cache-dir.ts';
import { command } from '../command.ts';
import { downloadPackages, unpackPackages } from '../debian/packages.ts';

/** Raise the number when the list changes, or to fetch newer versions. */
const REVISION = 1;
const SUITE = 'trixie';
const PACKAGES = ['libc6', 'libgcc-s1', 'libstdc++6', 'libjemalloc2', 'ca-certificates'];

/** Of the packages: libraries without converters of character sets, and what licences and scanners ask for. */
const KEPT = ['usr/lib/*-linux-gnu/*.so*', 'usr/lib64/*', 'usr/share/doc/*/copyright'];
const AUTHORITIES = 'usr/share/ca-certificates/mozilla';

export async function libraries(): Promise<string> {
  const store = join(defaultCacheDir(), 'image-libraries');
  const final = join(store, `${REVISION}-${arch()}`);
  if (existsSync(final)) return final;
  console.log('images: fetching the libraries of the service’s image from Debian');
  await mkdir(store, { recursive: true, mode: 0o700 });
  for (const name of await readdir(store)) await rm(join(store, name), { recursive: true });
  const work = await mkdtemp(join(store, '.work-'));
  try {
    const [unpacked, made] = [join(work, 'unpacked'), join(work, 'made')];
    await mkdir(unpacked);
    const files = await downloadPackages(work, SUITE, PACKAGES);
    await unpackPackages(files, unpacked);
    for (const pattern of KEPT) await copyMatches(unpacked, made, pattern);
    await writeAuthorities(unpacked, made);
    await writeStatus(files, made);
    await command('sync', ['--file-system', made]);
    await rename(made, final);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return final;
}

async function copyMatches(from: string, to: string, pattern: string): Promise<void> {
  let found = 0;
  for await (const path of glob(pattern, { cwd: from })) {
    await mkdir(join(to, dirname(path)), { recursive: true });
    await cp(join(from, path), join(to, path), { recursive: true, verbatimSymlinks: true });
    found += 1;
  }
  if (found === 0) throw new Error(`Debian’s packages have no ${pattern}`);
}

/** The file that the package’s script would make. */
async function writeAuthorities(from: string, to: string): Promise<void> {
  const names = (await readdir(join(from, AUTHORITIES))).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(from, AUTHORITIES, name), 'utf8')));
  await mkdir(join(to, 'etc/ssl/certs'), { recursive: true });
  await writeFile(join(to, 'etc/ssl/certs/ca-certificates.crt'), texts.join(''));
}

/** Names the packages with their versions, where scanners of images look for them. */
async function writeStatus(files: string[], to: string): Promise<void> {
  const folder = join(to, 'var/lib/dpkg/status.d');
  await mkdir(folder, { recursive: true });
  for (const file of files) {
    const fields = await command('dpkg-deb', ['--field', file]);
    const name = /^Package: (\S+)$/m.exec(fields)?.[1] ?? '';
    await writeFile(join(folder, name), fields);
  }
}
