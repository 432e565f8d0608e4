/**
 * Removal of archives. S3 knows no leases: so a note is read first, then the lease is asked for, and only then the object that
 * the note named goes. That of a replica that took over has another key.
 */
import type { Log } from '../../../control/ports/index.ts';
import type { ArchiveLocation } from '../../../model/sandbox.ts';
import type { ArchivePlace, RemotePlace } from '../../archives/places.ts';
import type { Notes } from './notes.ts';
import { elsewhere } from './refusals.ts';

export interface Removal {
  /** Removes the archive that nothing names any more. What S3 does not remove now is collected later. */
  remove(id: string): Promise<void>;
  /** Removes what a failed archive has put, and its note where that is not of a newer one. */
  withdraw(id: string, location: ArchiveLocation): Promise<void>;
}

export interface RemovalDependencies {
  notes: Notes;
  placeOf(location: ArchiveLocation): ArchivePlace;
  /** Throws when another replica may have taken the work over. */
  assertTenure(): void;
  /** Reports what could not be removed. */
  left(id: string, error: unknown): void;
  log: Log;
}

export function createRemoval(parts: RemovalDependencies): Removal {
  const { notes, placeOf, assertTenure, left, log } = parts;

  async function noted(id: string): Promise<ArchiveLocation | null> {
    const note = await notes.read(id);
    assertTenure();
    return note?.location ?? null;
  }

  return {
    async remove(id) {
      const location = await noted(id);
      try {
        if (location) await placeOf(location).remove(id, location);
      } catch (error) {
        log.warn('an archive could not be removed; it is collected later', { sandbox: id, error });
      }
      await notes.remove(id);
    },

    async withdraw(id, location) {
      try {
        await placeOf(location).remove(id, location);
      } catch (error) {
        left(id, error);
      }
      await notes.remove(id, location);
    },
  };
}

/** Throws `unavailable` for an archive in a place that the service does not have. */
export function placesOf(remote: RemotePlace | null): (location: ArchiveLocation) => ArchivePlace {
  return (location) => {
    if (location.store === 's3' && remote !== null) return remote.place;
    throw elsewhere();
  };
}
