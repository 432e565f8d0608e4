/** Pulls one image from a registry into the data directory: sizes first, then bytes, then files. */
import { mkdtemp, readdir, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log, OnProgress } from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Blobs } from './blobs.ts';
import type { ImageFolders } from './folders.ts';
import { fetchImage, type RegistryDependencies, retrying } from './registry/client.ts';
import { unusable } from './registry/manifest.ts';
import type { ImageRecord } from './registry/record.ts';
import type { ImageReference } from './registry/reference.ts';
import type { RemoteImage } from './registry/resolve.ts';
import { fromFirst } from './registry/sources.ts';
import { DamagedBlob, measure, noRoom, readConfig, type UnpackLimits, unpack } from './unpack.ts';

export interface PullDependencies extends RegistryDependencies {
  folders: ImageFolders;
  blobs: Blobs;
  log: Log;
  unpackPath: string;
  bounds: UnpackLimits;
}

export interface Pull {
  image: RemoteImage;
  /** Reference by digest, in the image's own registry. */
  reference: ImageReference;
  /** Name shown to the caller. */
  name: string;
  owner: string;
  signal: AbortSignal;
  onProgress: OnProgress;
}

async function pull(parts: PullDependencies, request: Pull): Promise<ImageRecord> {
  const { blobs } = parts;
  const { image, signal } = request;
  const release = blobs.hold(image.layers);
  try {
    return await retrying(signal, () => attempt(parts, request));
  } catch (error) {
    if (!(error instanceof DamagedBlob)) throw error;
    // The disk lost data that skopeo had checked: fetch once more from the registry.
    await blobs.discard(image.layers, { held: true });
    return await attempt(parts, request).catch((again: unknown) => {
      throw again instanceof DamagedBlob ? unusable(request.name, again.message) : again;
    });
  } finally {
    release();
  }
}

/**
 * The image appears under its digest only when it is complete. After a failure, fetched layers are kept for the next
 * try, except those of an image that can never be used.
 */
export async function pullImage(parts: PullDependencies, request: Pull): Promise<ImageRecord> {
  try {
    return await pull(parts, request);
  } catch (error) {
    const useless =
      error instanceof SandhavenError && ['failed_precondition', 'too_large'].includes(error.code);
    if (useless) await parts.blobs.discard(request.image.layers, { held: false });
    throw error;
  }
}

async function attempt(parts: PullDependencies, request: Pull): Promise<ImageRecord> {
  const { folders, blobs, helpers, bounds } = parts;
  const { image, name, signal, onProgress } = request;
  const work = await folders.temporary();
  try {
    const rootfs = join(work, 'rootfs');
    const layout = await download(parts, request, work);
    const { config, layers } = await readConfig(layout, blobs, name);
    await blobs.touch(image.layers);
    const onBytes = (bytes: number): void =>
      onProgress({ message: `Unpacking ${name}: ${Math.round(bytes / 1e6)} MB` });
    onBytes(0);
    await unpack(parts, { layers, rootfs, name, bounds, signal }, onBytes);
    const sizeBytes = await measure(helpers, rootfs);
    const madeAt = Math.floor((await stat(rootfs)).ctimeMs);
    return await folders.commit(work, {
      digest: image.digest,
      reference: name,
      sizeBytes,
      madeAt,
      ...config,
    });
  } finally {
    await folders.discard(work);
  }
}

/** Returns the layout; each source gets a folder of its own within `work`. */
async function download(parts: PullDependencies, request: Pull, work: string): Promise<string> {
  const { blobs } = parts;
  const { image, reference, name, owner, signal, onProgress } = request;
  const total = image.compressedBytes;
  const here = async (): Promise<number> =>
    (await blobs.sizes(image.layers)).reduce((sum, size) => sum + size, 0);
  await assertRoom(work, Math.max(0, total - (await here())));
  // Layers and small documents; a registry that sends more than it announced is cut off.
  const most = total + 2 * limits.image.configBytes;
  return fromFirst(
    { mirrors: parts.rules.mirrors, log: parts.log },
    { reference, signal },
    async (source) => {
      const folder = await mkdtemp(join(work, 'from-'));
      const check = async (): Promise<void> => {
        const arriving = await sizeOf(folder);
        if (arriving > most) throw misstated(name);
        await assertRoom(work, 0);
        onProgress({ message: `Fetching ${name}`, done: Math.min(arriving + (await here()), total), total });
      };
      const layout = join(folder, 'layout');
      try {
        await guarded(signal, check, (inner) => {
          const options = { owner, signal: inner, temporary: folder, blobs: blobs.folder };
          return fetchImage(parts, source, layout, options);
        });
        return layout;
      } catch (error) {
        await rm(folder, { recursive: true, force: true });
        throw error;
      }
    },
  );
}

/** Keeps free disk above the reserve for running machines. */
async function assertRoom(folder: string, neededBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize - neededBytes < limits.hostReserveDiskBytes) throw noRoom();
}

/** Returns the bytes that skopeo has written: a few folders of plain files. Files that vanish meanwhile count as 0. */
async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        (found) => (found.isFile() ? found.size : 0),
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

function misstated(name: string): SandhavenError {
  return new SandhavenError('unavailable', `The registry sends more bytes for ${name} than it announced.`, {
    parameter: 'image',
    hint: 'Choose another image or registry.',
    retryable: false,
  });
}

/**
 * Runs `work` and calls `measure` at intervals; when `measure` throws, aborts the work and rejects with that error.
 * A helper can write on until the next measurement, so limits hold within half a second.
 */
export async function guarded<T>(
  signal: AbortSignal,
  measure: () => Promise<void>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const stopped = new AbortController();
  const watching = watch(measure, ended.signal).catch((error: unknown) => {
    stopped.abort(error);
  });
  try {
    return await work(AbortSignal.any([signal, stopped.signal]));
  } catch (error) {
    throw stopped.signal.aborted ? stopped.signal.reason : error;
  } finally {
    ended.abort();
    await watching;
  }
}

async function watch(measure: () => Promise<void>, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    await measure();
    await sleep(limits.image.measureIntervalMs, undefined, { signal: ended }).catch(() => {});
  }
}
