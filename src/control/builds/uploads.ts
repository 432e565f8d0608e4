/**
 * Archives that come before the build that needs them: each is sent to an address of its own, or in parts by who has a grant,
 * and kept under its owner's name for it, for an hour after it came or was asked for.
 */
import { type Release, Shares } from '../../fairness/shares.ts';
import { invalidArgument, notFound } from '../../model/errors.ts';
import { randomText } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { type Caller, ownerIdOf, type User } from '../../model/user.ts';
import type { IdentityService } from '../callers/identity.ts';
import type { Clock, OpenSpool, Spool } from '../ports/index.ts';
import { joined, type OpenedArchive } from './context.ts';

/** Place of a block in the spool. */
interface Extent {
  at: number;
  bytes: number;
}

interface Upload {
  id: string;
  ownerId: string;
  name: string;
  spool: Spool;
  /** End of the spool, and of what is written to it now: parts come at once, and their blocks one after another. */
  end: number;
  written: Promise<unknown>;
  /** By their numbers. */
  parts: Map<number, Extent[]>;
  /** Of all parts, in order; none until all is here. */
  extents: Extent[];
  since: number;
  /** Shares of its number and of its blocks. */
  held: Release[];
  /** Builds that read it and parts that are coming. Once it is to go, it does so after them. */
  users: number;
  goes: boolean;
}

/** Right to send one archive of this name; of any names, where it is null. It ends with its key. */
interface Expected {
  caller: Caller;
  name: string | null;
  since: number;
  release: Release;
}

const { uploads: bounds, uploadedBytes } = limits.build;
/** Written at once: a body may come a byte at a time. */
const BLOCK_BYTES = 256 * 1024;

export interface UploadsDependencies {
  identity: Pick<IdentityService, 'whileValid'>;
  clock: Clock;
  openSpool: OpenSpool;
}

export class Uploads {
  readonly #deps: UploadsDependencies;
  /** By owner and name. */
  readonly #kept = new Map<string, Upload>();
  /** Those whose parts are coming, by their ids. */
  readonly #coming = new Map<string, Upload>();
  /** By ticket. */
  readonly #expected = new Map<string, Expected>();
  readonly #tickets = new Shares({ ...bounds, what: 'archives are expected' });
  readonly #count = new Shares({ ...bounds, what: 'archives are kept for builds' });
  readonly #bytes = new Shares({ ...uploadedBytes, what: 'bytes are kept for builds' });

  constructor(dependencies: UploadsDependencies) {
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
  expect(caller: Caller, name: string): string {
    this.#sweep();
    return this.#issue(caller, name);
  }

  /** Returns the grant of the caller's key for archives of all names, good for another hour. */
  grant(caller: Caller): string {
    this.#sweep();
    for (const [ticket, expected] of this.#expected) {
      const { name, caller: holder } = expected;
      if (name !== null || holder.keyId !== caller.keyId || ownerIdOf(holder) !== ownerIdOf(caller)) continue;
      expected.since = this.#deps.clock.now();
      return ticket;
    }
    return this.#issue(caller, null);
  }

  #issue(caller: Caller, name: string | null): string {
    const take = this.#tickets.take(ownerIdOf(caller));
    const ticket = randomText(40);
    const unwatch = this.#deps.identity.whileValid(caller, () => this.#withdraw(ticket));
    const release = () => {
      unwatch();
      take();
    };
    this.#expected.set(ticket, { caller, name, since: this.#deps.clock.now(), release });
    return ticket;
  }

  #withdraw(ticket: string): void {
    this.#expected.get(ticket)?.release();
    this.#expected.delete(ticket);
  }

  /** Returns who has the grant; null for none, and for one that is over. */
  granted(ticket: string): Caller | null {
    this.#sweep();
    const expected = this.#expected.get(ticket);
    return expected?.name === null ? expected.caller : null;
  }

  /** Takes the archive for which the ticket was given. */
  async keep(ticket: string, body: AsyncIterable<Uint8Array>): Promise<void> {
    this.#sweep();
    const { caller, name = null } = this.#expected.get(ticket) ?? {};
    if (!caller || name === null)
      throw notFound('upload', 'The address was used, or is more than an hour old.', 'Ask for another.');
    this.#withdraw(ticket);
    await this.put(caller, name, body);
  }

  /**
   * Takes a whole archive, in place of an earlier one. Rejects with `resource_exhausted` past the owner's share, from which
   * its older archives have gone already; then nothing is kept.
   */
  async put(caller: User, name: string, body: AsyncIterable<Uint8Array>): Promise<void> {
    const id = await this.begin(caller, name);
    try {
      await this.part(caller, id, 1, body);
      this.complete(caller, id, [1]);
    } catch (error) {
      this.abort(caller, id);
      throw error;
    }
  }

  /** Begins an archive that comes in parts, and returns its id. */
  async begin(caller: User, name: string): Promise<string> {
    this.#sweep();
    const ownerId = ownerIdOf(caller);
    if (!this.#count.hasShare(ownerId, 1)) this.#forgetOldest(ownerId);
    const held = [this.#count.take(ownerId)];
    try {
      const id = randomText(40);
      const spool = await this.#deps.openSpool();
      this.#coming.set(id, {
        ...{ id, ownerId, name, spool, held, since: this.#deps.clock.now() },
        ...{ end: 0, written: Promise.resolve(), parts: new Map(), extents: [], users: 0, goes: false },
      });
      return id;
    } catch (error) {
      held[0]?.();
      throw error;
    }
  }

  /** Takes one part, in place of an earlier one of its number. */
  async part(caller: User, id: string, number: number, body: AsyncIterable<Uint8Array>): Promise<void> {
    const upload = this.#comingOf(caller, id);
    if (!Number.isInteger(number) || number < 1 || number > bounds.parts)
      throw invalidArgument('partNumber', `The number of a part must be from 1 to ${bounds.parts}.`);
    upload.users += 1;
    try {
      const extents: Extent[] = [];
      for await (const block of inBlocks(body)) extents.push(await this.#append(upload, block));
      upload.parts.set(number, extents);
    } finally {
      this.#leave(upload);
    }
  }

  /** Keeps what these parts are, in order. Throws `invalid_argument` for one that has not come. */
  complete(caller: User, id: string, numbers: readonly number[]): void {
    const upload = this.#comingOf(caller, id);
    upload.extents = [...new Set(numbers)].flatMap((number) => {
      const extents = upload.parts.get(number);
      if (extents) return extents;
      throw invalidArgument('partNumber', `Part ${number} has not come.`, 'Send it again.');
    });
    const key = keyOf(upload.ownerId, upload.name);
    const earlier = this.#kept.get(key);
    if (earlier) this.#forget(earlier);
    this.#coming.delete(id);
    this.#kept.set(key, upload);
    upload.since = this.#deps.clock.now();
  }

  /** Nothing is left of what came. One that is not there any more is no error. */
  abort(caller: User, id: string): void {
    const upload = this.#coming.get(id);
    if (upload?.ownerId === ownerIdOf(caller)) this.#forget(upload);
  }

  /** Opens an archive for a build, which closes it. Returns null when it is not here. */
  open(caller: User, name: string): OpenedArchive | null {
    const upload = this.#kept.get(keyOf(ownerIdOf(caller), name));
    if (!upload) return null;
    upload.users += 1;
    return { bytes: bytesOf(upload), close: () => this.#leave(upload) };
  }

  /** Yields several as one; see `joined`. */
  joined(caller: User, names: Iterable<string>, folderOf?: (name: string) => string): AsyncGenerator<Buffer> {
    return joined(names, (name) => this.open(caller, name), folderOf);
  }

  #comingOf(caller: User, id: string): Upload {
    const upload = this.#coming.get(id);
    if (upload?.ownerId === ownerIdOf(caller)) return upload;
    throw notFound('upload', 'No such archive is coming.', 'Begin it again.');
  }

  async #append(upload: Upload, block: Buffer): Promise<Extent> {
    const { ownerId, spool, held } = upload;
    while (!this.#bytes.hasShare(ownerId, block.length) && this.#forgetOldest(ownerId));
    held.push(this.#bytes.take(ownerId, block.length));
    const written = upload.written.then(async () => {
      const extent = { at: upload.end, bytes: block.length };
      await spool.write(block);
      upload.end += block.length;
      return extent;
    });
    upload.written = written.catch(() => {});
    return written;
  }

  #sweep(): void {
    const before = this.#deps.clock.now() - bounds.keptMs;
    for (const upload of this.#kept.values()) if (upload.since < before) this.#forget(upload);
    for (const upload of this.#coming.values())
      if (upload.since < before && upload.users === 0) this.#forget(upload);
    for (const [ticket, { since }] of this.#expected) if (since < before) this.#withdraw(ticket);
  }

  /** Parts go too where none is coming now: a client may have left them behind. */
  #forgetOldest(ownerId: string): boolean {
    const left = [...this.#coming.values()].filter(({ users }) => users === 0);
    const own = [...this.#kept.values(), ...left].filter((upload) => upload.ownerId === ownerId);
    const [oldest] = own.sort((a, b) => a.since - b.since);
    if (oldest) this.#forget(oldest);
    return oldest !== undefined;
  }

  #forget(upload: Upload): void {
    const { id, ownerId, name } = upload;
    this.#coming.delete(id);
    if (this.#kept.get(keyOf(ownerId, name)) === upload) this.#kept.delete(keyOf(ownerId, name));
    upload.goes = true;
    this.#free(upload);
  }

  #leave(upload: Upload): void {
    upload.users -= 1;
    upload.since = this.#deps.clock.now();
    this.#free(upload);
  }

  #free({ goes, users, held, spool }: Upload): void {
    if (!goes || users > 0) return;
    for (const release of held.splice(0)) release();
    void spool.close().catch(() => {});
  }
}

const keyOf = (ownerId: string, name: string): string => JSON.stringify([ownerId, name]);

async function* bytesOf({ spool, extents }: Upload): AsyncGenerator<Buffer> {
  for (const { at, bytes } of extents) yield* spool.read(at, bytes);
}

/** Yields one buffer again and again, which is its taker's until the next turn. */
async function* inBlocks(body: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  let filled = 0;
  for await (const piece of body) {
    for (let at = 0; at < piece.length; ) {
      const taken = Math.min(piece.length - at, BLOCK_BYTES - filled);
      block.set(piece.subarray(at, at + taken), filled);
      at += taken;
      filled += taken;
      if (filled < BLOCK_BYTES) continue;
      yield block;
      filled = 0;
    }
  }
  if (filled > 0) yield block.subarray(0, filled);
}
