/**
 * Places for the bytes of archives: the host's disk always, S3 where the operator gave it. A place knows nothing of the
 * contents; whoever reads an archive compares its digest.
 *
 * Both adapters run the suite in test/archives/place-conformance.ts.
 */
import type { Log } from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import type { ArchiveLocation } from '../../model/sandbox.ts';

export interface TransferOptions {
  signal?: AbortSignal | undefined;
}

/** Errors: `unavailable`, or a system error of the host's disk, such as ENOSPC. */
export interface ArchivePlace {
  /** Returns the location for a new archive of this sandbox. Nothing is written yet. */
  locate(id: string): ArchiveLocation;
  /**
   * Puts a stream of unknown length there, all or nothing; durable when it resolves. The stream must not reuse its
   * buffers. Returns its length.
   */
  put(
    id: string,
    location: ArchiveLocation,
    bytes: AsyncIterable<Uint8Array>,
    options?: TransferOptions,
  ): Promise<number>;
  /** Like `put`, for a finished file of this host, which is gone afterwards. A failure leaves it. */
  putFile(id: string, location: ArchiveLocation, file: string, options?: TransferOptions): Promise<number>;
  /** Opens the archive; the stream fails where it would end early. Returns null when there is none. */
  get(id: string, location: ArchiveLocation, options?: TransferOptions): Promise<StoredBytes | null>;
  /** Returns a file of this host with the archive: its own, or `spool`, written anew. null when there is none. */
  getFile(
    id: string,
    location: ArchiveLocation,
    spool: string,
    options?: TransferOptions,
  ): Promise<string | null>;
  /** Removes the archive; a missing one is no error. */
  remove(id: string, location: ArchiveLocation, options?: TransferOptions): Promise<void>;
  /** Lists the finished archives of this instance. */
  list(options?: TransferOptions): AsyncIterable<StoredArchive>;
  /** Removes what interrupted puts left, where it is older than this. */
  sweep(olderThanMs: number, options?: TransferOptions): Promise<void>;
  close(): void;
}

export interface StoredBytes {
  sizeBytes: number;
  bytes: AsyncIterable<Uint8Array>;
}

export interface StoredArchive {
  /** The sandbox that it was written for. */
  id: string;
  location: ArchiveLocation;
  sizeBytes: number;
  /** Time since it was written, by the clock of the place. */
  ageMs: number;
}

export interface ArchivePlaces {
  /** Takes new archives. */
  chosen: ArchivePlace;
  /** Returns the place of an existing archive; throws `unavailable` when this service does not have it. */
  of(location: ArchiveLocation): ArchivePlace;
}

export interface RemotePlace {
  place: ArchivePlace;
  /** true: new archives go there; false: only existing ones are read. */
  chosen: boolean;
}

export interface CollectRequest {
  /** Returns the locations that rows name. */
  named(): Promise<ArchiveLocation[]>;
  olderThanMs: number;
  signal?: AbortSignal | undefined;
}

export function createPlaces(local: ArchivePlace, remote: RemotePlace | null): ArchivePlaces {
  return {
    chosen: remote?.chosen ? remote.place : local,
    of({ store }) {
      if (store === 'local') return local;
      if (remote !== null) return remote.place;
      throw new SandhavenError(
        'unavailable',
        'The archive of the sandbox lies in S3, and the service is started without it.',
        {
          hint: 'Nothing was changed. Ask the operator to start the service with --s3-endpoint, or --archive-store s3://…, and the credentials.',
          retryable: true,
        },
      );
    },
  };
}

/**
 * Removes archives that no row names: of an upload whose sandbox was never settled, or of a removal that failed. Returns their
 * number. One that cannot be removed is left for the next time.
 *
 * Invariant: an archive is removed only when it is older than any operation can be that has yet to commit its record.
 */
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
