/**
 * Unpacked images of this machine, by content digest: the standard base image from the cache, all others from
 * registries. A name that was pulled once stands for the same contents from then on.
 */
import type { CallOptions, Image, Images, Log } from '../../control/ports.ts';
import { limits } from '../../model/limits.ts';
import { BASE, BaseImage } from './base.ts';
import { ImageFolders } from './folders.ts';
import type { Helpers } from './helpers.ts';
import { pull } from './pull.ts';
import type { ImageRecord } from './record.ts';
import { formatReference, type ImageReference, parseReference } from './reference.ts';
import { resolve } from './registry.ts';
import { SharedWork } from './shared-work.ts';
import { Turns } from './turns.ts';

export interface ImagesOptions {
  dataDir: string;
  /** Where `make image` put the base image (`defaultCacheDir`). */
  cacheDir: string;
  helpers: Helpers;
  log: Log;
}

export interface LocalImages extends Images {
  /** Removes what an earlier service left half-made. Called once, first, after its helpers were fenced. */
  init(): Promise<void>;
  /** The unpacked root file system of an image that `ensure` gave; root-owned, ids from 0, never to be changed. */
  rootfsPath(digest: string): string;
}

export function createImages({ dataDir, cacheDir, helpers, log }: ImagesOptions): LocalImages {
  const folders = new ImageFolders(dataDir, helpers);
  const base = new BaseImage(cacheDir, folders, helpers);
  const byName = new SharedWork<ImageRecord>();
  const byDigest = new SharedWork<ImageRecord>();
  const turns = new Turns(limits.image.concurrentPulls);

  async function fetchNamed(
    reference: ImageReference,
    { signal, onProgress }: Required<CallOptions>,
  ): Promise<ImageRecord> {
    const name = formatReference(reference);
    onProgress({ message: `Looking up ${name}` });
    const image = await resolve(helpers, reference, signal);
    const record =
      (await folders.read(image.digest)) ??
      (await byDigest.run(image.digest, { signal, onProgress }, (shared) =>
        turns.take(shared.signal, () => pull(folders, helpers, { image, name, ...shared })),
      ));
    await folders.writeReference(name, record.digest);
    log.info('image pulled', { reference: name, digest: record.digest, sizeBytes: record.sizeBytes });
    return record;
  }

  return {
    init: () => folders.init(),

    async ensure(text, options = {}) {
      if (text === BASE) {
        const ready = await base.ready();
        return toImage(ready ?? (await byName.run(BASE, options, ({ signal }) => base.take(signal))), text);
      }
      const reference = parseReference(text);
      const name = formatReference(reference);
      const known = await folders.readReference(name);
      return toImage(
        known ?? (await byName.run(name, options, (shared) => fetchNamed(reference, shared))),
        name,
      );
    },

    async get(digest) {
      const record = await folders.read(digest);
      return record && toImage(record, record.reference);
    },

    rootfsPath: (digest) => folders.rootfs(digest),
  };
}

/** One image can have several names; the caller sees the one it gave, completed. */
function toImage({ digest, env, entrypoint, workingDir, sizeBytes }: ImageRecord, reference: string): Image {
  return { digest, reference, env, entrypoint, workingDir, sizeBytes };
}
