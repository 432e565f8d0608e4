/**
 * Archives of disks of a cluster: a carrier packs or makes a disk's content, and the bytes pass through this process to and
 * from S3, in no file.
 *
 * Invariants: an archive is read back and compared before its record is given out; only a record with this installation's
 * signature is restored; a restored claim is no disk before the digest of all that went into it is that of the record. A
 * call that was interrupted at any point is repeated from its beginning.
 */
import { createSemaphore } from '../../../concurrency/semaphore.ts';
import type { Log, MachineSpec } from '../../../control/ports/index.ts';
import { GiB, limits } from '../../../model/limits.ts';
import type { ArchiveLocation, ArchiveRecord } from '../../../model/sandbox.ts';
import type { RemotePlace } from '../../archives/places.ts';
import { assertSigned, notItsArchive, signatureOf } from '../../archives/signature.ts';
import type { Claim } from '../client/objects.ts';
import { generationOf, isCarrier } from '../machine/names.ts';
import { isOver } from '../machine/pod-state.ts';
import type { Pods } from '../machine/pods.ts';
import { amountOf } from '../machine/quantity.ts';
import type { CarrierLink } from '../settings.ts';
import { leftOut } from './carrier-pod.ts';
import type { Carriers } from './carriers.ts';
import type { Claims } from './claims.ts';
import type { Notes } from './notes.ts';
import { asRefusal, declined, noArchives, notKept, stillRunning } from './refusals.ts';
import { createRemoval, placesOf } from './removal.ts';
import { atMost, compressed, decompressed, drain, Measure } from './streams.ts';

export interface Archives {
  /** Keeps the disk. */
  write(id: string, generation: number, signal: AbortSignal): Promise<ArchiveRecord>;
  /** Keeps the archive; replaces an existing disk. */
  restore(spec: MachineSpec, generation: number, record: ArchiveRecord, signal: AbortSignal): Promise<void>;
  dropDisk(id: string): Promise<void>;
  remove(id: string): Promise<void>;
  /** Removes the archive of a sandbox that is going. What S3 does not remove now is collected later. */
  forget(id: string): Promise<void>;
}

export interface ArchivesDependencies {
  pods: Pods;
  claims: Claims;
  carriers: Carriers;
  carrierLink: CarrierLink;
  notes: Notes;
  /** null: the service has no place for archives. */
  remote: RemotePlace | null;
  /** Signs archives. */
  installationKey: Buffer;
  /** Throws when another replica may have taken the work over. */
  assertTenure(): void;
  log: Log;
}

export function createArchives(parts: ArchivesDependencies): Archives {
  const { pods, claims, carriers, carrierLink, notes, remote, installationKey, log } = parts;
  const writes = createSemaphore(limits.archives.uploadsAtOnce);
  const restores = createSemaphore(limits.archives.downloadsAtOnce);

  /** A claim with its mark is no disk, and a note may name nothing: the next attempt replaces both. */
  function left(id: string, error: unknown): void {
    log.warn('a failed archive or restore left remains', { sandbox: id, error });
  }

  const placeOf = placesOf(remote);
  const removal = createRemoval({ ...parts, placeOf, left });

  /** Removes a carrier, and a Pod that has ended. Rejects with `unavailable` while the machine runs. */
  async function clear(id: string, newest = Number.POSITIVE_INFINITY): Promise<void> {
    const pod = await pods.read(id);
    if (!pod) return;
    if (generationOf(pod) > newest || !(isCarrier(pod) || isOver(pod))) throw stillRunning();
    await pods.remove(pod, 0);
  }

  /** Packs the disk into the place, and reads it back. */
  async function pack(
    id: string,
    generation: number,
    { location, mostBytes }: { location: ArchiveLocation; mostBytes: number },
    signal: AbortSignal,
  ): Promise<ArchiveRecord> {
    const place = placeOf(location);
    const written = new Measure();
    await carriers.use(id, generation, signal, async (open) => {
      const disk = await carrierLink.pack(open, id, leftOut, signal);
      try {
        const bytes = written.of(compressed(atMost(disk, mostBytes)));
        await place.put(id, location, bytes, { signal });
      } finally {
        disk.destroy();
      }
    });
    const digest = written.digest();
    const stored = await place.get(id, location, { signal });
    const read = new Measure();
    if (stored) await drain(read.of(stored.bytes));
    if (read.sizeBytes !== written.sizeBytes || read.digest() !== digest) throw notKept();
    const hmac = signatureOf(installationKey, id, digest);
    return { ...location, digest, hmac, sizeBytes: written.sizeBytes };
  }

  /** Fills the new claim, and declares it a disk. */
  async function unpack(
    { id, resources }: MachineSpec,
    claim: Claim,
    stored: AsyncIterable<Uint8Array>,
    record: ArchiveRecord,
    signal: AbortSignal,
  ): Promise<void> {
    const read = new Measure();
    const generation = generationOf(claim);
    const mostBytes = mostOf(resources.disk * GiB);
    await carriers.use(id, generation, signal, async (open) => {
      const content = atMost(decompressed(read.of(stored)), mostBytes);
      await carrierLink.unpack(open, id, leftOut, content, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        throw asRefusal(error);
      });
      if (read.sizeBytes !== record.sizeBytes || read.digest() !== record.digest) throw notItsArchive();
      await claims.settle(id, claim);
    });
  }

  return {
    write: (id, generation, caller) =>
      writes
        .run(async () => {
          if (!remote?.chosen) throw noArchives();
          const signal = AbortSignal.any([caller, AbortSignal.timeout(limits.archives.transferMs)]);
          await clear(id, generation);
          const claim = await claims.hold(id, generation, signal);
          const mostBytes = mostOf(amountOf(claim.spec.resources.requests['storage']));
          const location = remote.place.locate(id);
          await notes.write(id, location);
          try {
            return await pack(id, generation, { location, mostBytes }, signal);
          } catch (error) {
            await removal.withdraw(id, location).catch((late: unknown) => left(id, late));
            throw error;
          }
        }, caller)
        .catch(declined),

    restore: (spec, generation, record, caller) =>
      restores
        .run(async () => {
          const { id, resources } = spec;
          assertSigned(installationKey, id, record);
          const ended = new AbortController();
          const bound = AbortSignal.timeout(limits.archives.transferMs);
          const signal = AbortSignal.any([caller, bound, ended.signal]);
          let made: Claim | null = null;
          try {
            const stored = await placeOf(record).get(id, record, { signal });
            if (stored === null || stored.sizeBytes !== record.sizeBytes) throw notItsArchive();
            await clear(id, generation);
            made = await claims.renew(id, generation, resources.disk, signal);
            await unpack(spec, made, stored.bytes, record, signal);
          } catch (error) {
            if (made) await claims.drop(id, made).catch((late: unknown) => left(id, late));
            throw error;
          } finally {
            // A download that nobody reads any more.
            ended.abort();
          }
        }, caller)
        .catch(declined),

    async dropDisk(id) {
      await clear(id);
      await claims.drop(id);
    },

    remove: removal.remove,
    forget: removal.forget,
  };
}

/** Bound on the tar archive of a disk: names of files may take more room there than on the disk. */
function mostOf(diskBytes: number): number {
  return limits.kubernetes.carrier.contentPerDisk * diskBytes + GiB;
}
