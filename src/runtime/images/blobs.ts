/**
 * Folder `images/blobs` of the data directory: layers in the form of the registries, by digest, for images that share
 * them and for interrupted pulls.
 *
 * Invariants: a file under a digest is whole, since skopeo checks it before it renames it into place; sandhaven-unpack
 * checks it again. Layers that a pull needs are held, and never pruned meanwhile; neither is any small file during a
 * pull, since it may be the description of the image, written anew by skopeo.
 */
import { mkdir, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { limits } from '../../model/limits.ts';

const namePattern = /^[0-9a-f]{64}$/;

interface Found {
  path: string;
  size: number;
  usedAt: number;
}

export class Blobs {
  /** Folder for skopeo, which makes `sha256` in it. */
  readonly folder: string;
  readonly #files: string;
  readonly #held = new Map<string, number>();

  constructor(dataDir: string) {
    this.folder = join(dataDir, 'images', 'blobs');
    this.#files = join(this.folder, 'sha256');
  }

  async init(): Promise<void> {
    await mkdir(this.#files, { recursive: true, mode: 0o700 });
    for (const name of await readdir(this.#files)) {
      if (!namePattern.test(name)) await rm(join(this.#files, name), { recursive: true, force: true });
    }
  }

  /** @param digest `sha256:` and 64 hex digits. */
  path(digest: string): string {
    const name = digest.replace(/^sha256:/, '');
    if (!namePattern.test(name)) throw new Error('a blob is named by its SHA-256');
    return join(this.#files, name);
  }

  /** Holds these blobs until the returned function is called. */
  hold(digests: string[]): () => void {
    const paths = new Set(digests.map((digest) => this.path(digest)));
    for (const path of paths) this.#held.set(path, (this.#held.get(path) ?? 0) + 1);
    return () => {
      for (const path of paths) {
        const left = (this.#held.get(path) ?? 1) - 1;
        if (left > 0) this.#held.set(path, left);
        else this.#held.delete(path);
      }
      paths.clear();
    };
  }

  /** Returns the present bytes of each, in order; 0 for none. */
  sizes(digests: string[]): Promise<number[]> {
    const size = (digest: string) =>
      stat(this.path(digest)).then(
        (found) => found.size,
        () => 0,
      );
    return Promise.all(digests.map(size));
  }

  /** Marks these as used now, for the order of pruning. */
  async touch(digests: string[]): Promise<void> {
    const now = new Date();
    for (const digest of digests) await utimes(this.path(digest), now, now).catch(() => {});
  }

  /** @param held True to remove held ones too. */
  async discard(digests: string[], { held }: { held: boolean }): Promise<void> {
    for (const path of digests.map((digest) => this.path(digest))) {
      if (held || !this.#held.has(path)) await rm(path, { force: true });
    }
  }

  /** Removes those last used before `usedBefore`, then the longest unused until all are at most `maxBytes`. */
  async prune({ maxBytes, usedBefore }: { maxBytes: number; usedBefore: number }): Promise<void> {
    const found = (await this.#list()).sort((a, b) => a.usedAt - b.usedAt);
    let total = found.reduce((sum, { size }) => sum + size, 0);
    for (const { path, size, usedAt } of found) {
      if (usedAt >= usedBefore && total <= maxBytes) return;
      if (this.#held.has(path) || (this.#held.size > 0 && size <= limits.image.configBytes)) continue;
      await rm(path, { force: true });
      total -= size;
    }
  }

  async #list(): Promise<Found[]> {
    const names = await readdir(this.#files).catch(() => []);
    const found = await Promise.all(
      names.map(async (name) => {
        const path = join(this.#files, name);
        const seen = await stat(path).catch(() => null);
        return seen ? [{ path, size: seen.size, usedAt: seen.mtimeMs }] : [];
      }),
    );
    return found.flat();
  }
}
