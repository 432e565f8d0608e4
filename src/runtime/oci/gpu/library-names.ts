/**
 * Names of driver libraries. Programs load a library by another name than its file's (libcuda.so.1, a link to
 * libcuda.so.580.95.05). Specifications leave those links to hooks, programs that run as root over a sandbox's own
 * files. Here the names come from the host's links, and the same file is mounted under each.
 */
import { readdir, readlink } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { limits } from '../../../model/limits.ts';
import type { DeviceMount } from './device.ts';

export async function libraryNames(mounts: DeviceMount[]): Promise<DeviceMount[]> {
  const libraries = mounts.filter(({ source }) => stemOf(source) !== null);
  const folders = [...new Set(libraries.map(({ source }) => dirname(source)))];
  const namesIn = new Map(
    await Promise.all(folders.map(async (folder) => [folder, await namesOf(folder)] as const)),
  );
  const found = await Promise.all(libraries.map((library) => further(library, namesIn)));
  const taken = new Set(mounts.map(({ destination }) => destination));
  return [...mounts, ...found.flat().filter(({ destination }) => !taken.has(destination))];
}

async function further(
  { source, destination }: DeviceMount,
  namesIn: Map<string, string[]>,
): Promise<DeviceMount[]> {
  const folder = dirname(source);
  const stem = stemOf(source);
  const candidates = (namesIn.get(folder) ?? []).filter(
    (name) => stemOf(name) === stem && name !== basename(source),
  );
  const leading = await Promise.all(
    candidates.map(async (name) => (await end(folder, name, candidates.length)) === source),
  );
  return candidates
    .filter((_, index) => leading[index])
    .map((name) => ({ source, destination: join(dirname(destination), name) }));
}

/** Follows a chain of links within the folder to its end; null when it leaves the folder or is too long. */
async function end(folder: string, name: string, links: number): Promise<string | null> {
  let path = join(folder, name);
  for (let left = links; left >= 0; left--) {
    const target = await readlink(path).catch(() => null);
    if (target === null) return path;
    path = resolve(folder, target);
    if (dirname(path) !== folder) return null;
  }
  return null;
}

async function namesOf(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  return names.length > limits.cdi.folderNames ? [] : names.filter((name) => stemOf(name) !== null);
}

/** Returns "libcuda.so" for libcuda.so.1; null for files that are no library. */
function stemOf(path: string): string | null {
  return /^(lib.+?\.so)(?:\.[0-9.]+)?$/.exec(basename(path))?.[1] ?? null;
}
