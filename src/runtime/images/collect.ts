/** Removes unused images, and layers kept for later pulls. */
import type { Images, Log } from '../../control/ports/index.ts';
import { limits } from '../../model/limits.ts';
import type { Blobs } from './blobs.ts';
import type { BuiltInImage } from './built-in.ts';
import type { ImageFolders } from './folders.ts';
import type { Holds } from './holds.ts';

interface Dependencies {
  folders: ImageFolders;
  blobs: Blobs;
  builtIns: BuiltInImage[];
  holds: Holds;
  log: Log;
}

export async function collect(
  { folders, blobs, builtIns, holds, log }: Dependencies,
  { inUse, unusedSince, thoroughly = false }: Parameters<Images['collect']>[0],
): Promise<string[]> {
  const mark = holds.mark();
  const kept = await Promise.all(builtIns.map((image) => image.digests()));
  const used = new Set([...(await inUse()), ...kept.flat()]);
  const gone: string[] = [];
  const graves: string[] = [];
  for (const digest of await folders.list()) {
    if (used.has(digest) || !holds.free(digest, mark)) {
      await folders.touch(digest);
      continue;
    }
    if ((await folders.usedAt(digest)) > unusedSince) continue;
    // This check and the image's removal happen in one turn of the event loop.
    if (!holds.free(digest, mark)) continue;
    graves.push(folders.bury(digest));
    holds.forget(digest);
    gone.push(digest);
  }
  for (const grave of graves) await folders.discard(grave);
  if (gone.length > 0) {
    await folders.dropDeadReferences();
    log.info('unused images removed', { digests: gone });
  }
  await blobs.prune({
    maxBytes: thoroughly ? 0 : limits.image.blobBytes,
    usedBefore: Date.now() - limits.image.blobKeptMs,
  });
  return gone;
}
