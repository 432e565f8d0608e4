/**
 * Archives that come before the build that needs them: each is sent to an address of its own, and kept under its owner's name for
 * it, for an hour after it came or was asked for.
 */
import { type Release, Shares } from '../../fairness/shares.ts';
import { notFound } from '../../model/errors.ts';
import { randomText } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { ownerIdOf, type User } from '../../model/user.ts';
import type { Clock, OpenSpool, Spool } from '../ports/index.ts';

interface Upload {
  ownerId: string;
  name: string;
  spool: Spool;
  bytes: number;
  since: number;
  /** Shares: of its number first, then one for each block of its bytes. */
  held: Release[];
  /** Builds that read it now. It goes after them. */
  readers: number;
}

interface Expected {
  ownerId: string;
  name: string;
  since: number;
  release: Release;
}

const { uploads: bounds, uploadedBytes } = limits.build;
/** Taken of the share at once: a body may come a byte at a time. */
const BLOCK_BYTES = 1024 * 1024;

export class Uploads {
  readonly #deps: { clock: Clock; openSpool: OpenSpool };
  /** By owner and name. */
  readonly #kept = new Map<string, Upload>();
  /** By ticket. */
  readonly #expected = new Map<string, Expected>();
  readonly #tickets = new Shares({ ...bounds, what: 'archives are expected' });
  readonly #count = new Shares({ ...bounds, what: 'archives are kept for builds' });
  readonly #bytes = new Shares({ ...uploadedBytes, what: 'bytes are kept for builds' });

  constructor(dependencies: { clock: Clock; openSpool: OpenSpool }) {
    this.#deps = dependencies;
  }

  /** Returns true when the archive is here, and keeps it for another hour. */
  has(caller: User, name: string): boolean {
    this.#sweep();
    const upload = this.#kept.get(keyOf(ownerIdOf(caller), name));
    if (upload) upload.since = this.#deps.clock.now();
    return upload !== undefined;
  }

  /** Returns the secret part of an address at which the archive may be sent, once. */
  expect(caller: User, name: string): string {
    this.#sweep();
    const ownerId = ownerIdOf(caller);
    const release = this.#tickets.take(ownerId);
    const ticket = randomText(40);
    this.#expected.set(ticket, { ownerId, name, since: this.#deps.clock.now(), release });
    return ticket;
  }

  /**
   * Takes the archive for which the ticket was given, in place of an earlier one. Rejects with `resource_exhausted` past the owner's share, from
   * which its older archives have gone already; then nothing is kept.
   */
  async keep(ticket: string, body: AsyncIterable<Uint8Array>): Promise<void> {
    this.#sweep();
    const expected = this.#expected.get(ticket);
    if (!expected)
      throw notFound('upload', 'The address was used, or is more than an hour old.', 'Ask for another.');
    this.#expected.delete(ticket);
    expected.release();
    const { ownerId, name } = expected;
    if (!this.#count.hasShare(ownerId, 1)) this.#forgetOldest(ownerId);
    const held = [this.#count.take(ownerId)];
    let spool: Spool | null = null;
    try {
      spool = await this.#deps.openSpool();
      let bytes = 0;
      for await (const piece of body) {
        bytes += piece.length;
        while ((held.length - 1) * BLOCK_BYTES < bytes) {
          while (!this.#bytes.hasShare(ownerId, BLOCK_BYTES) && this.#forgetOldest(ownerId));
          held.push(this.#bytes.take(ownerId, BLOCK_BYTES));
        }
        await spool.write(Buffer.from(piece.buffer, piece.byteOffset, piece.length));
      }
      const key = keyOf(ownerId, name);
      this.#forget(this.#kept.get(key));
      this.#kept.set(key, { ownerId, name, spool, bytes, since: this.#deps.clock.now(), held, readers: 0 });
    } catch (error) {
      for (const release of held) release();
      await spool?.close();
      throw error;
    }
  }

  /** Opens an archive for a build, which closes it. Returns null when it is not here. */
  open(caller: User, name: string): { bytes: AsyncIterable<Buffer>; close(): void } | null {
    const upload = this.#kept.get(keyOf(ownerIdOf(caller), name));
    if (!upload) return null;
    upload.readers += 1;
    return {
      bytes: upload.spool.read(0, upload.bytes),
      close: () => {
        upload.readers -= 1;
        if (this.#kept.get(keyOf(upload.ownerId, name)) !== upload) this.#free(upload);
      },
    };
  }

  #sweep(): void {
    const before = this.#deps.clock.now() - bounds.keptMs;
    for (const upload of this.#kept.values()) if (upload.since < before) this.#forget(upload);
    for (const [ticket, { since, release }] of this.#expected) {
      if (since >= before) continue;
      this.#expected.delete(ticket);
      release();
    }
  }

  #forgetOldest(ownerId: string): boolean {
    const own = [...this.#kept.values()].filter((upload) => upload.ownerId === ownerId);
    const [oldest] = own.sort((a, b) => a.since - b.since);
    this.#forget(oldest);
    return oldest !== undefined;
  }

  #forget(upload: Upload | undefined): void {
    if (!upload) return;
    this.#kept.delete(keyOf(upload.ownerId, upload.name));
    this.#free(upload);
  }

  #free({ readers, held, spool }: Upload): void {
    if (readers > 0) return;
    for (const release of held.splice(0)) release();
    void spool.close().catch(() => {});
  }
}

const keyOf = (ownerId: string, name: string): string => JSON.stringify([ownerId, name]);
