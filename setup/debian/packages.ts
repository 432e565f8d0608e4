/**
 * Downloads Debian packages without installing them. apt checks them by the signed lists of their suite, with lists
 * and a cache of its own: the machine's packages and sources stay unchanged.
 */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { command } from '../command.ts';
import { hostProcessor } from '../processors/processor.ts';
import { debianMirror, sourcesOf } from './mirror.ts';

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/**
 * Returns the packages' files, in the order of their names. Rejects when apt names no mirror, or a package is missing.
 * @param work Empty folder of the caller, which removes it.
 * @param names With a version where only that one will do, as `name=version`.
 * @param architecture Debian's name of a processor that may be another one than this machine's.
 */
export async function downloadPackages(
  work: string,
  suite: string,
  names: string[],
  architecture = hostProcessor.debian,
): Promise<string[]> {
  const options = await ownApt(work, suite, architecture);
  await mkdir(join(work, 'packages'));
  const cwd = join(work, 'packages');
  await command('apt-get', [...options, '--quiet', 'download', ...names], { cwd });
  const files = (await readdir(cwd)).map((name) => join(cwd, name));
  return names.map(
    (name) => files.find((file) => basename(file).startsWith(`${name.replace(/=.*/, '')}_`)) ?? '',
  );
}

/**
 * Returns the files of all that an installation of the packages draws in, what they recommend too.
 * @param work Empty folder of the caller, which removes it.
 * @param root System to install them in; it stays as it is.
 */
export async function downloadInstallation(
  work: string,
  suite: string,
  names: string[],
  root: string,
): Promise<string[]> {
  const options = await ownApt(work, suite, hostProcessor.debian);
  const ofRoot = [`Dir::State::Status=${join(root, 'var/lib/dpkg/status')}`, 'APT::Install-Recommends=true'];
  const asThere = ofRoot.flatMap((option) => ['--option', option]);
  const flags = ['--quiet', '--yes', '--download-only'];
  await command('apt-get', [...options, ...asThere, ...flags, 'install', ...names]);
  const archives = join(work, 'cache/archives');
  return (await readdir(archives))
    .filter((name) => name.endsWith('.deb'))
    .map((name) => join(archives, name));
}

/** Fetches the lists of a suite, and returns options of apt that has these alone. */
async function ownApt(work: string, suite: string, architecture: string): Promise<string[]> {
  const mirror = await debianMirror();
  if (!mirror) throw new Error('the machine’s apt names no Debian mirror (run apt-get update)');
  const sources = join(work, 'sources.list');
  const signed = `[signed-by=${KEYRING}] `;
  const lines = hasUpdates(suite)
    ? sourcesOf(mirror, suite, signed)
    : [`deb ${signed}${mirror.archiveUri} ${suite} main`];
  await writeFile(sources, `${lines.join('\n')}\n`);
  await mkdir(join(work, 'lists/partial'), { recursive: true });
  await mkdir(join(work, 'cache/archives/partial'), { recursive: true });
  const options = [
    `Dir::Etc::SourceList=${sources}`,
    'Dir::Etc::SourceParts=/dev/null',
    `Dir::State::Lists=${join(work, 'lists')}`,
    `Dir::Cache=${join(work, 'cache')}`,
    // Without the machine's own list of them, which would be fetched too.
    `APT::Architecture=${architecture}`,
    `APT::Architectures=${architecture}`,
    'APT::Sandbox::User=root',
    'Acquire::Languages=none',
    // A lagging mirror is harmless: packages are signed, and the version of their contents is checked.
    'Acquire::Check-Valid-Until=false',
  ].flatMap((option) => ['--option', option]);
  await command('apt-get', [...options, '--quiet', 'update']);
  return options;
}

/** The unstable suite, and backports, have no updates beside them. */
function hasUpdates(suite: string): boolean {
  return suite !== 'sid' && !suite.endsWith('-backports');
}

/** Unpacks packages into a folder; runs none of their scripts. */
export async function unpackPackages(files: string[], root: string): Promise<void> {
  for (const file of files) await command('dpkg-deb', ['--extract', file, root]);
}
