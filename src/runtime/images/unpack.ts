/** Makes the root file system of an image out of its layers, fit for a machine with 65,536 ids. */
import { chmod, mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Helpers } from './helpers.ts';
import { parseConfig, parseLayout, parseManifest, unusable } from './manifest.ts';
import type { ImageConfig } from './record.ts';

const { unpackedBytes, entries, configBytes, pullTimeoutMs } = limits.image;

/** Folders that a machine mounts over or works in; an image need not have them. */
const standardFolders = ['dev', 'etc', 'proc', 'run', 'sys', 'tmp', 'workspace'];

/** Of the image tagged `image` in an OCI layout that skopeo wrote. */
export async function readConfig(layout: string, name: string): Promise<ImageConfig> {
  const manifestDigest = parseLayout(await readBounded(join(layout, 'index.json'), name), name);
  const parsed = parseManifest(await readBlob(layout, manifestDigest, name), name);
  if (!('manifest' in parsed)) throw unusable(name, 'its manifest is a list of lists');
  return parseConfig(await readBlob(layout, parsed.manifest.config.digest, name), name);
}

/** Layers one over the other, with their removals, hard links, owners and modes; into `rootfs`, which is made. */
export async function unpack(
  helpers: Helpers,
  layout: string,
  rootfs: string,
  signal: AbortSignal,
): Promise<void> {
  const options = { timeoutMs: pullTimeoutMs, signal };
  await helpers.run('umoci', ['raw', 'unpack', '--image', `${layout}:image`, rootfs], options);
  // A device of the host must not come in with an image, whatever else stands before it.
  await helpers.run(
    'find',
    [rootfs, '-xdev', '(', '-type', 'b', '-o', '-type', 'c', ')', '-delete'],
    options,
  );
  const wideIds = ['(', '-uid', '+65535', '-o', '-gid', '+65535', ')'];
  const toNobody = ['-exec', 'chown', '--no-dereference', '65534:65534', '{}', '+'];
  await helpers.run('find', [rootfs, '-xdev', ...wideIds, ...toNobody], options);
  for (const folder of standardFolders)
    await makeFolder(join(rootfs, folder), folder === 'tmp' ? 0o1777 : 0o755);
  await helpers.run('sync', ['--file-system', rootfs], options);
}

/** What `rootfs` takes on disk. Fails with `too_large` over the limits. */
export async function measure(helpers: Helpers, rootfs: string, name: string): Promise<number> {
  const sum = async (unit: string): Promise<number> =>
    Number.parseInt(await helpers.run('du', ['--summarize', unit, rootfs], { timeoutMs: pullTimeoutMs }), 10);
  const bytes = await sum('--block-size=1');
  if (bytes > unpackedBytes) throw tooLarge(name, `over ${unpackedBytes} bytes when unpacked`);
  const count = await sum('--inodes');
  if (count > entries) throw tooLarge(name, `over ${entries} files and folders`);
  return bytes;
}

/** One level deep and never through a link: mkdir fails on whatever is there, and that is left as it is. */
async function makeFolder(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path);
    await chmod(path, mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function readBlob(layout: string, digest: string, name: string): Promise<string> {
  return readBounded(join(layout, 'blobs', ...digest.split(':')), name);
}

async function readBounded(file: string, name: string): Promise<string> {
  if ((await stat(file)).size > configBytes) throw tooLarge(name, `a description over ${configBytes} bytes`);
  return readFile(file, 'utf8');
}

function tooLarge(name: string, what: string): SandhavenError {
  return new SandhavenError('too_large', `The image ${name} has ${what}.`, {
    parameter: 'image',
    hint: 'Choose a smaller image.',
  });
}
