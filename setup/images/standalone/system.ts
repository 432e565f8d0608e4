/**
 * The root of the image with the whole service: Debian, the packages of `make dist`, and what they depend on, so the
 * packages' own lists are the only ones.
 */
import { chmod, copyFile, cp, mkdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { command } from '../../command.ts';
import { debianMirror, sourcesOf } from '../../debian/mirror.ts';

const SUITE = 'trixie';
/** Reaps what the service's programs leave behind, and passes signals on. */
const INIT = 'tini';
/** The packed base image: it changes rarely, so hosts keep its layer over an upgrade of the service. */
const BASE_IMAGE = 'usr/share/sandhaven/base-image';
/** Documents, which nobody reads in a container; licences stay. */
const NEEDLESS = ['usr/share/man/*', 'usr/share/locale/*', 'usr/share/doc/*', 'usr/share/info/*'];
const LICENCES = 'usr/share/doc/*/copyright';
/** Of the build: they name its time, and differ in each. */
const TRACES = [
  ...['var/log/alternatives.log', 'var/log/apt', 'var/log/bootstrap.log', 'var/log/dpkg.log'],
  ...[
    'var/cache/ldconfig',
    'var/cache/debconf',
    'var/cache/sandhaven',
    'var/lib/apt/lists',
    'etc/machine-id',
  ],
];

export interface Packages {
  service: string;
  baseImage: string;
}

/**
 * Fills two empty folders, one for each layer.
 * @param epoch Seconds since 1970, for the few files that name a time.
 */
export async function writeRoots(
  home: string,
  packages: Packages,
  { system, baseImage, epoch }: { system: string; baseImage: string; epoch: number },
): Promise<void> {
  const depends = await dependsOf(packages.service);
  const mirror = await debianMirror();
  const env = { SOURCE_DATE_EPOCH: String(epoch) };
  await command(
    'unshare',
    [
      ...['--mount', '--propagation', 'private', 'mmdebstrap', '--quiet', '--variant=essential'],
      ...['--format=directory', `--include=${[INIT, ...depends].join(',')}`],
      ...NEEDLESS.map((path) => `--dpkgopt=path-exclude=/${path}`),
      `--dpkgopt=path-include=/${LICENCES}`,
      ...[SUITE, system, ...(mirror ? sourcesOf(mirror, SUITE) : [])],
    ],
    { env },
  );
  await install(system, [packages.service, packages.baseImage], env);
  const scripts = join(home, 'deploy/standalone');
  await copyFile(join(scripts, 'start'), join(system, 'usr/lib/sandhaven/start'));
  await chmod(join(system, 'usr/lib/sandhaven/start'), 0o755);
  for (const path of TRACES) await rm(join(system, path), { recursive: true, force: true });
  await splitOff(join(system, BASE_IMAGE), join(baseImage, BASE_IMAGE));
}

/** Names without versions: dpkg compares those when it installs the package. */
async function dependsOf(file: string): Promise<string[]> {
  const text = await command('dpkg-deb', ['--field', file, 'Depends']);
  return text
    .trim()
    .split(', ')
    .map((one) => one.split(' ')[0] ?? '');
}

async function install(root: string, files: string[], env: Record<string, string>): Promise<void> {
  const folder = join(root, 'tmp/packages');
  await mkdir(folder);
  for (const file of files) await cp(file, join(folder, basename(file)));
  const names = files.map((file) => `/tmp/packages/${basename(file)}`);
  const inside = ['--mount', '--pid', '--fork', `--mount-proc=${join(root, 'proc')}`, 'chroot', root];
  await command('unshare', [...inside, 'dpkg', '--install', ...names], {
    env: {
      ...env,
      PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
      DEBIAN_FRONTEND: 'noninteractive',
      LC_ALL: 'C.UTF-8',
    },
  });
  await rm(folder, { recursive: true });
}

async function splitOff(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o755 });
  await rename(from, to);
}
