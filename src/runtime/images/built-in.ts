/** Images of this project: built into the cache by `make`, taken from there into a data directory. */
import { link, readlink, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { ImageFolders } from './folders.ts';
import type { Helpers } from './registry/helpers.ts';
import { type ImageRecord, readImageRecord } from './registry/record.ts';

/** Title and hint of each, by the name that callers use in place of a registry's. */
const kinds = {
  base: {
    title: 'The standard base image',
    hint: 'The operator makes it with `make image`; until then, name another image.',
  },
  documentdb: {
    title: 'The image of the document database',
    hint: 'The operator makes it with `sandhaven demo-db` or `make documentdb-image`.',
  },
};

export type BuiltInName = keyof typeof kinds;

export const builtInNames = Object.keys(kinds) as BuiltInName[];

export class BuiltInImage {
  readonly #name: BuiltInName;
  readonly #cache: string;
  readonly #folders: ImageFolders;
  readonly #helpers: Helpers;
  /** Image of the cache that was last found in the data directory. */
  #taken: { key: string; record: ImageRecord } | null = null;

  constructor(name: BuiltInName, cacheDir: string, folders: ImageFolders, helpers: Helpers) {
    this.#name = name;
    this.#cache = join(cacheDir, name);
    this.#folders = folders;
    this.#helpers = helpers;
  }

  /** Returns the cache's present image; without a cache, the one taken earlier. null when it has to be taken first. */
  async ready(): Promise<ImageRecord | null> {
    const key = await this.#currentKey();
    if (key === null) return this.#folders.readReference(this.#name);
    if (this.#taken?.key === key) return this.#taken.record;
    const cached = await readImageRecord(join(this.#cache, key));
    const record = cached && (await this.#folders.read(cached.digest));
    if (record) this.#taken = { key, record };
    return record;
  }

  /** Returns the digests of the present image, and of the one from which sandboxes were last made. */
  async digests(): Promise<string[]> {
    const records = [await this.ready(), await this.#folders.readReference(this.#name)];
    return records.flatMap((record) => (record ? [record.digest] : []));
  }

  /** Takes the cache's image; if that is replaced meanwhile, takes the new one. */
  async take(signal: AbortSignal): Promise<ImageRecord> {
    for (;;) {
      const key = await this.#currentKey();
      try {
        return await this.#takeFrom(key, signal);
      } catch (error) {
        if (signal.aborted || (await this.#currentKey()) === key) throw error;
      }
    }
  }

  /** Makes hard links if the cache and the data directory allow it; images are never written to, so links are safe. */
  async #takeFrom(key: string | null, signal: AbortSignal): Promise<ImageRecord> {
    const record = key === null ? null : await readImageRecord(join(this.#cache, key));
    if (key === null || !record) throw missing(this.#name);
    const work = await this.#folders.temporary();
    try {
      const source = join(this.#cache, key, 'rootfs');
      const linkable = await canLink(join(this.#cache, key), work);
      const options = { timeoutMs: limits.image.pullTimeoutMs, signal };
      const how = linkable ? '--link' : '--reflink=auto';
      await this.#helpers.run('cp', ['--archive', how, source, join(work, 'rootfs')], options);
      // Linked files are on disk since they were built; copies are not.
      if (!linkable) await this.#helpers.run('sync', ['--file-system', work], options);
      const committed = await this.#folders.commit(work, record);
      await this.#folders.writeReference(this.#name, committed.digest);
      this.#taken = { key, record: committed };
      return committed;
    } finally {
      await this.#folders.discard(work);
    }
  }

  async #currentKey(): Promise<string | null> {
    return readlink(join(this.#cache, 'current')).catch(() => null);
  }
}

/** Tries a link: two mounts of one disk are one file system, and still allow no links between them. */
async function canLink(image: string, work: string): Promise<boolean> {
  const trial = join(work, 'linkable');
  try {
    await link(join(image, 'image.json'), trial);
    await rm(trial);
    return true;
  } catch {
    return false;
  }
}

function missing(name: BuiltInName): SandhavenError {
  const { title, hint } = kinds[name];
  return new SandhavenError('unavailable', `${title} is not on this host.`, { parameter: 'image', hint });
}
