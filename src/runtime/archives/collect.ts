/**
 * Removes archives that no row names: of an upload whose sandbox was never settled, or of a removal that failed.
 *
 * Invariant: an archive is removed only when it is older than any operation can be that has yet to commit its record.
 */
import type { Log } from '../../control/ports/index.ts';
import type { ArchiveLocation } from '../../model/sandbox.ts';
import type { ArchivePlace } from './places.ts';

export interface CollectRequest {
  /** Returns the locations that rows name. */
  named(): Promise<ArchiveLocation[]>;
  olderThanMs: number;
  signal?: AbortSignal | undefined;
}

/** Returns the number of removed archives. One that cannot be removed is left for the next time. */
export async function collectArchives(
  place: ArchivePlace,
  { named, olderThanMs, signal }: CollectRequest,
  log: Pick<Log, 'warn' | 'info'>,
): Promise<number> {
  await place.sweep(olderThanMs, { signal });
  // An archive of that age is named already, or never will be: rows may be read before the listing.
  const kept = new Set((await named()).map(textOf));
  let removed = 0;
  for await (const { id, location, ageMs } of place.list({ signal })) {
    if (ageMs < olderThanMs || kept.has(textOf(location))) continue;
    try {
      await place.remove(id, location, { signal });
      removed += 1;
      log.info('removed an archive that no sandbox names', { sandbox: id });
    } catch (error) {
      signal?.throwIfAborted();
      log.warn('an archive that no sandbox names could not be removed', { sandbox: id, error });
    }
  }
  return removed;
}

function textOf(location: ArchiveLocation): string {
  return location.store === 's3' ? `${location.bucket}/${location.key}` : location.store;
}
