/**
 * Archives of disks of a cluster: a carrier packs or makes a disk's content, and the bytes pass through this process to and
 * from S3, in no file.
 *
 * Invariants: an archive is read back and compared before its record is given out; only a record with this installation's
 * signature is restored; a restored claim is no disk before the digest of all that went into it is that of the record. A
 * call that was interrupted at any point is repeated from its beginning.
 */
import { createSemaphore } from '../../../concurrency/in-portions.ts';
import type { Log, MachineSpec } from '../../../control/ports/index.ts';
import { GiB, limits } from '../../../model/limits.ts';
import type { ArchiveLocation, ArchiveRecord, Resources } from '../../../model/sandbox.ts';
import type { RemotePlace } from '../../archives/places.ts';
import {
  type ArchiveEncryption,
  assertSigned,
  notItsArchive,
  signatureOf,
} from '../../archives/protection.ts';
import { amountOf, type Claim } from '../client/objects.ts';
import type { CarrierLink } from '../client/settings.ts';
import { generationOf, isCarrier } from '../machine/names.ts';
import { isOver } from '../machine/pod-state.ts';
import type { Pods } from '../machine/pods.ts';
import { type Carriers, leftOut } from './carriers.ts';
import type { Claims } from './claims.ts';
import type { Notes } from './notes.ts';
import { asRefusal, declined, noArchives, notKept, stillRunning } from './refusals.ts';
import { atMost, compressed, createRemoval, decompressed, drain, Measure, placesOf } from './streams.ts';

export interface Archives {
  /** Keeps the disk. */
  write(id: string, generation: number, signal: AbortSignal): Promise<ArchiveRecord>;
  /** Keeps the archive; replaces an existing disk. */
  restore(spec: MachineSpec, generation: number, record: ArchiveRecord, signal: AbortSignal): Promise<void>;
  dropDisk(id: string): Promise<void>;
  /** Waits for no store: what S3 does not remove now is collected later. */
  remove(id: string): Promise<void>;
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
  encryption: ArchiveEncryption;
  /** Throws when another replica may have taken the work over. */
  assertTenure(): void;
  log: Log;
}

export function createArchives(parts: ArchivesDependencies): Archives {
  const { pods, claims, carriers, carrierLink, notes, remote, installationKey, encryption, log } = parts;
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
    const size = limits.kubernetes.carrier.size;
    await carriers.use({ id, generation, size, signal }, async (open) => {
      const disk = await carrierLink.pack(open, id, leftOut, signal);
      try {
        const packed = compressed(atMost(disk, mostBytes));
        const bytes = encryption.encrypts ? encryption.seal(id, packed) : packed;
        await place.put(id, location, written.of(bytes), { signal });
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
    const { sizeBytes } = written;
    return { ...location, digest, hmac, sizeBytes, ...encryption.mark };
  }

  /** Fills the new claim, and declares it a disk. */
  async function unpack(
    { id, resources }: Pick<MachineSpec, 'id' | 'resources'>,
    claim: Claim,
    stored: AsyncIterable<Uint8Array>,
    record: ArchiveRecord,
    signal: AbortSignal,
  ): Promise<void> {
    const read = new Measure();
    const generation = generationOf(claim);
    const mostBytes = mostOf(resources.disk * GiB);
    // A new disk may be bound to the node or the zone of its first Pod, so that is one where the sandbox fits.
    const size = larger(limits.kubernetes.carrier.size, resources);
    await carriers.use({ id, generation, size, signal }, async (open) => {
      const bytes = read.of(stored);
      const packed = record.keyId === undefined ? bytes : encryption.open(id, bytes);
      const content = atMost(decompressed(packed), mostBytes);
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
          const diskBytes = amountOf(claim.spec.resources.requests['storage']);
          const mostBytes = mostOf(diskBytes);
          const location = remote.place.locate(id);
          await notes.write(id, location, diskBytes);
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
          encryption.assertOpens(record);
          const ended = new AbortController();
          const bound = AbortSignal.timeout(limits.archives.transferMs);
          const signal = AbortSignal.any([caller, bound, ended.signal]);
          let made: Claim | null = null;
          try {
            const stored = await placeOf(record).get(id, record, { signal });
            if (stored === null || stored.sizeBytes !== record.sizeBytes) throw notItsArchive();
            await clear(id, generation);
            // A growth that was not confirmed in time has left the claim larger than its row.
            const { diskBytes = 0 } = (await notes.read(id, signal)) ?? {};
            const disk = Math.max(resources.disk, Math.ceil(diskBytes / GiB));
            made = await claims.renew(id, generation, disk, signal);
            await unpack({ id, resources: { ...resources, disk } }, made, stored.bytes, record, signal);
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
  };
}

/** Bound on the tar archive of a disk: names of files may take more room there than on the disk. */
function mostOf(diskBytes: number): number {
  return limits.kubernetes.carrier.contentPerDisk * diskBytes + GiB;
}

function larger(one: Resources, other: Resources): Resources {
  const most = (resource: keyof Resources) => Math.max(one[resource], other[resource]);
  return { cpu: most('cpu'), memory: most('memory'), disk: most('disk'), gpu: most('gpu') };
}
