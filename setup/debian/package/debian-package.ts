/**
 * Makes one Debian package of a staged root. The same files give the same bytes: times are the commit's, owners are root,
 * modes follow from who may execute, and dpkg-deb sorts.
 */
import { createHash } from 'node:crypto';
import { chmod, lstat, lutimes, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { command } from '../../command.ts';
import { MAINTAINER } from './documents.ts';

export interface DebianPackage {
  name: string;
  version: string;
  architecture: string;
  /** Further fields of the control file, in their order. */
  fields: Record<string, string>;
  /** First line of the description, and its paragraphs. */
  description: { short: string; long: string[] };
  /** Texts of maintainer scripts by their names. */
  scripts: Record<string, string>;
  /** Paths that an upgrade keeps when they were changed. */
  conffiles: string[];
  /** Folder with the files below their final paths; it is emptied into the package. */
  root: string;
  /** Seconds since 1970. */
  epoch: number;
  /** Compressor of the files: none for what is compressed already. */
  compression: 'xz' | 'none';
}

const WIDTH = 78;

/** @returns the path of the package in `dist`. */
export async function makeDebianPackage(wanted: DebianPackage, dist: string): Promise<string> {
  const { name, version, architecture, root, epoch, compression } = wanted;
  const files = await normalize(root);
  const control = join(root, 'DEBIAN');
  await mkdir(control, { mode: 0o755 });
  await put(join(control, 'control'), await controlFile(wanted, files));
  await put(join(control, 'md5sums'), await checksums(root, files));
  if (wanted.conffiles.length > 0) await put(join(control, 'conffiles'), lines(wanted.conffiles));
  for (const [script, text] of Object.entries(wanted.scripts)) await put(join(control, script), text, 0o755);
  await setTimes(root, epoch);
  await mkdir(dist, { recursive: true });
  const file = join(dist, `${name}_${version}_${architecture}.deb`);
  await rm(file, { force: true });
  // The fastest level keeps a build short.
  const how = compression === 'xz' ? ['-Zxz', '-z1'] : ['-Znone', '--no-uniform-compression'];
  await command('dpkg-deb', ['--root-owner-group', ...how, '--build', root, file], {
    env: { SOURCE_DATE_EPOCH: String(epoch) },
  });
  return file;
}

async function controlFile(wanted: DebianPackage, files: string[]): Promise<string> {
  const sizes = await Promise.all(files.map(async (file) => (await lstat(join(wanted.root, file))).size));
  const installedKiB = sizes.reduce((sum, bytes) => sum + Math.ceil(bytes / 1024), 0);
  const fields = {
    Package: wanted.name,
    Version: wanted.version,
    Architecture: wanted.architecture,
    Maintainer: MAINTAINER,
    'Installed-Size': String(installedKiB),
    ...wanted.fields,
  };
  const { short, long } = wanted.description;
  return lines([
    ...Object.entries(fields).map(([name, value]) => `${name}: ${value}`),
    `Description: ${short}`,
    long.map(paragraph).join('\n .\n'),
  ]);
}

function paragraph(text: string): string {
  const wrapped: string[] = [];
  for (const word of text.split(' ')) {
    const line = wrapped.at(-1);
    if (line === undefined || line.length + 1 + word.length > WIDTH) wrapped.push(` ${word}`);
    else wrapped[wrapped.length - 1] = `${line} ${word}`;
  }
  return wrapped.join('\n');
}

/** Sets modes by who may execute. @returns all files and links, relative to the root, sorted. */
async function normalize(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  await chmod(root, 0o755);
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) await chmod(path, 0o755);
    else found.push(relative(root, path));
    if (entry.isFile()) await chmod(path, ((await lstat(path)).mode & 0o100) === 0 ? 0o644 : 0o755);
  }
  return found.sort();
}

async function checksums(root: string, files: string[]): Promise<string> {
  const rows: string[] = [];
  for (const file of files) {
    const path = join(root, file);
    if (!(await lstat(path)).isFile()) continue;
    rows.push(
      `${createHash('md5')
        .update(await readFile(path))
        .digest('hex')}  ${file}`,
    );
  }
  return lines(rows);
}

async function setTimes(root: string, epoch: number): Promise<void> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  for (const { parentPath, name } of entries) await lutimes(join(parentPath, name), epoch, epoch);
  await lutimes(root, epoch, epoch);
}

async function put(path: string, text: string, mode = 0o644): Promise<void> {
  await writeFile(path, text);
  await chmod(path, mode);
}

function lines(rows: string[]): string {
  return rows.map((row) => `${row}\n`).join('');
}
