/** The places that this service has: the host's disk always, S3 where the operator gave it. */
import { SandhavenError } from '../../model/errors.ts';
import type { ArchiveLocation } from '../../model/sandbox.ts';
import type { ArchivePlace } from './archive-place.ts';

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
