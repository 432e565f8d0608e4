/** Brings one image from a registry into the data directory: sizes first, then bytes, then files. */
import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { OnProgress } from '../../control/ports.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { ImageFolders } from './folders.ts';
import { guarded } from './guard.ts';
import type { Helpers } from './helpers.ts';
import type { ImageRecord } from './record.ts';
import { fetchImage, type RemoteImage } from './registry.ts';
import { measure, readConfig, unpack } from './unpack.ts';

export interface Pull {
  image: RemoteImage;
  /** As the caller is told of it. */
  name: string;
  signal: AbortSignal;
  onProgress: OnProgress;
}

/** Nothing of it is seen under the image's digest before all of it is there. */
export async function pull(folders: ImageFolders, helpers: Helpers, request: Pull): Promise<ImageRecord> {
  const { image, name } = request;
  const work = await folders.temporary();
  try {
    const layout = join(work, 'layout');
    const rootfs = join(work, 'rootfs');
    await assertRoom(work, image.compressedBytes);
    await download(helpers, request, layout, work);
    const config = await readConfig(layout, name);
    await unpackGuarded(helpers, request, layout, rootfs);
    const sizeBytes = await measure(helpers, rootfs, name);
    return await folders.commit(work, { digest: image.digest, reference: name, sizeBytes, ...config });
  } finally {
    await folders.discard(work);
  }
}

async function download(helpers: Helpers, request: Pull, layout: string, work: string): Promise<void> {
  const { image, name, signal, onProgress } = request;
  const total = image.compressedBytes;
  // Beside the layers there are small documents; a registry that sends more than it said is cut off.
  const most = 2 * total + 2 * limits.image.configBytes;
  const check = async (): Promise<void> => {
    const done = await sizeOf(work);
    if (done > most) throw misstated(name);
    await assertRoom(work, 0);
    onProgress({ message: `Fetching ${name}`, done: Math.min(done, total), total });
  };
  await guarded(signal, check, (inner) =>
    fetchImage(helpers, image, layout, { signal: inner, temporary: work }),
  );
}

async function unpackGuarded(helpers: Helpers, request: Pull, layout: string, rootfs: string): Promise<void> {
  const { name, signal, onProgress } = request;
  const check = async (): Promise<void> => {
    await assertRoom(layout, 0);
    // While files come and go du may stumble over one; the measurement at the end does not.
    const done = await measure(helpers, rootfs, name).catch((error: unknown) => {
      if (error instanceof SandhavenError && error.code === 'too_large') throw error;
      return 0;
    });
    onProgress({ message: `Unpacking ${name}: ${Math.round(done / 1e6)} MB` });
  };
  await guarded(signal, check, (inner) => unpack(helpers, layout, rootfs, inner));
}

/** Free disk must stay above the reserve that running machines may need. */
async function assertRoom(folder: string, neededBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize - neededBytes >= limits.hostReserveDiskBytes) return;
  throw new SandhavenError('resource_exhausted', 'The host has not enough free disk for this image.', {
    hint: 'Delete sandboxes that are no longer needed, or choose a smaller image.',
  });
}

/** Of what skopeo writes: a few folders of plain files. What vanishes meanwhile counts as nothing. */
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
  return new SandhavenError('unavailable', `The registry sends more for ${name} than it said.`, {
    parameter: 'image',
    hint: 'Choose another image or registry.',
    retryable: false,
  });
}
