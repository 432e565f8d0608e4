/** What every place for archives does, on its real disk or server. */
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newSandboxId } from '../../src/model/ids.ts';
import type { ArchiveLocation } from '../../src/model/sandbox.ts';
import type { ArchivePlace, StoredArchive } from '../../src/runtime/archives/places.ts';
import { testEncryption } from './test-encryption.ts';

export interface PlaceUnderTest {
  place: ArchivePlace;
  /** Makes what the sandbox has before its first archive. */
  prepare(id: string): Promise<void>;
  /** Leaves what a process leaves that was killed in the middle of a put. */
  leaveHalf(id: string): Promise<void>;
  /** Number of such remains. */
  halves(): Promise<number>;
  remove(): Promise<void>;
}

const MiB = 2 ** 20;

/** @param partBytes Size up to which the place keeps an archive in one piece. */
export function placeConformance(name: string, partBytes: number, open: () => Promise<PlaceUnderTest>): void {
  let under: PlaceUnderTest;
  let place: ArchivePlace;
  const scratch = mkdtempSync(join(tmpdir(), 'sandhaven-place-'));

  beforeAll(async () => {
    under = await open();
    place = under.place;
  });
  afterAll(async () => {
    rmSync(scratch, { recursive: true });
    await under?.remove();
  });

  async function sandbox(): Promise<string> {
    const id = newSandboxId();
    await under.prepare(id);
    return id;
  }

  async function stored(id: string, location: ArchiveLocation): Promise<AsyncIterable<Uint8Array>> {
    const found = await place.get(id, location);
    if (found === null) throw new Error('there is no archive');
    return found.bytes;
  }

  async function listed(): Promise<StoredArchive[]> {
    const all: StoredArchive[] = [];
    for await (const one of place.list()) all.push(one);
    return all;
  }

  const file = (text: string): string => {
    const path = join(scratch, newSandboxId());
    writeFileSync(path, text);
    return path;
  };

  describe(name, () => {
    it.each([
      ['nothing', 0, 1],
      ['one byte', 1, 1],
      ['many small pieces', MiB + 3, 1_021],
      ['exactly two parts of an upload', 2 * partBytes, MiB],
      ['more than two parts, in pieces that fit into none', 2 * partBytes + 700_008, 700_001],
    ])('gives back %s', { timeout: 60_000 }, async (_what, size, pieceBytes) => {
      const id = await sandbox();
      const location = place.locate(id);
      const { bytes, digest } = source(size, pieceBytes);
      expect(await place.put(id, location, bytes)).toBe(size);
      const stored = await place.get(id, location);
      expect(stored?.sizeBytes).toBe(size);
      expect(await digestOf(stored?.bytes ?? [])).toBe(digest());
      await place.remove(id, location);
    });

    it('keeps nothing of a stream that fails', async () => {
      const id = await sandbox();
      const location = place.locate(id);
      const failing = async function* () {
        for await (const piece of source(partBytes + 5 * MiB, MiB).bytes) yield piece;
        throw new Error('the source failed');
      };
      await expect(place.put(id, location, failing())).rejects.toThrow('the source failed');
      expect(await place.get(id, location)).toBeNull();
      expect(await listed()).toEqual([]);
      expect(await under.halves()).toBe(0);
    });

    it.each([
      ['gives its bytes', true],
      ['gives nothing more', false],
    ])('keeps nothing of a put that is canceled while its source %s', async (_what, flows) => {
      const id = await sandbox();
      const location = place.locate(id);
      const caller = new AbortController();
      const canceled = async function* () {
        for await (const piece of source(partBytes + 2 * MiB, MiB).bytes) yield piece;
        setTimeout(() => caller.abort(new Error('canceled')), 50);
        for (;;) {
          await new Promise((resolve) => setTimeout(resolve, flows ? 5 : 200));
          if (flows) yield Buffer.alloc(1_000);
        }
      };
      await expect(place.put(id, location, canceled(), { signal: caller.signal })).rejects.toThrow(
        'canceled',
      );
      expect(await place.get(id, location)).toBeNull();
      expect(await under.halves()).toBe(0);
    });

    it('takes over a file, and gives it back as a file', async () => {
      const id = await sandbox();
      const location = place.locate(id);
      const given = file('contents');
      expect(await place.putFile(id, location, given)).toBe(8);
      expect(existsSync(given)).toBe(false);
      const spool = join(scratch, 'spool');
      const found = await place.getFile(id, location, spool);
      expect(readFileSync(found ?? '', 'utf8')).toBe('contents');
      await place.remove(id, location);
    });

    it('gives back an encrypted archive, which opens for its own sandbox alone', async () => {
      const [id, other] = [await sandbox(), await sandbox()];
      const [location, elsewhere] = [place.locate(id), place.locate(other)];
      const encryption = testEncryption();
      const { bytes, digest } = source(MiB + 5, 100_003);
      // 60 bytes before the chunks, and 16 with each of the five.
      expect(await place.put(id, location, encryption.seal(id, bytes))).toBe(1_048_721);
      expect(await digestOf(encryption.open(id, await stored(id, location)))).toBe(digest());
      await place.put(other, elsewhere, await stored(id, location));
      const swapped = encryption.open(other, await stored(other, elsewhere));
      await expect(digestOf(swapped)).rejects.toMatchObject({ code: 'unavailable' });
      await place.remove(id, location);
      await place.remove(other, elsewhere);
    });

    it('returns null for an archive that is not there', async () => {
      const id = await sandbox();
      const location = place.locate(id);
      expect(await place.get(id, location)).toBeNull();
      expect(await place.getFile(id, location, join(scratch, 'none'))).toBeNull();
      expect(existsSync(join(scratch, 'none'))).toBe(false);
    });

    it('removes an archive, also a second time', async () => {
      const id = await sandbox();
      const location = place.locate(id);
      await place.putFile(id, location, file('contents'));
      await place.remove(id, location);
      await place.remove(id, location);
      expect(await place.get(id, location)).toBeNull();
    });

    it('lists finished archives with their sandboxes, sizes and ages', async () => {
      const [one, two] = [await sandbox(), await sandbox()];
      const [here, there] = [place.locate(one), place.locate(two)];
      await place.putFile(one, here, file('1'));
      await place.putFile(two, there, file('22'));
      await under.leaveHalf(await sandbox());
      const found = await listed();
      expect(found.map(({ ageMs: _, ...rest }) => rest).sort((a, b) => a.sizeBytes - b.sizeBytes)).toEqual([
        { id: one, location: here, sizeBytes: 1 },
        { id: two, location: there, sizeBytes: 2 },
      ]);
      // Clocks of servers count in whole seconds.
      for (const { ageMs } of found) expect(Math.abs(ageMs)).toBeLessThan(30_000);
      await place.remove(one, here);
      await place.remove(two, there);
      expect(await listed()).toEqual([]);
    });

    it('removes what interrupted puts left, once it is old enough', async () => {
      await place.sweep(-60_000);
      await under.leaveHalf(await sandbox());
      await place.sweep(60_000);
      expect(await under.halves()).toBe(1);
      await place.sweep(-60_000);
      expect(await under.halves()).toBe(0);
    });
  });
}

/** Bytes that repeat in no part, with their digest once they were read. */
export function source(sizeBytes: number, pieceBytes: number) {
  const hash = createHash('sha256');
  async function* bytes() {
    for (let at = 0; at < sizeBytes; at += pieceBytes) {
      const piece = Buffer.alloc(Math.min(pieceBytes, sizeBytes - at), `${at},`);
      hash.update(piece);
      yield piece;
    }
  }
  return { bytes: bytes(), digest: () => hash.digest('hex') };
}

export async function digestOf(bytes: AsyncIterable<Uint8Array> | Uint8Array[]): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of bytes) hash.update(piece);
  return hash.digest('hex');
}
