/**
 * The folder `images` of the data directory: `<digest>/{rootfs/,image.json}`, `references/` (which digest a name
 * stood for when it was pulled) and `tmp/` (work in progress, and what is being removed).
 *
 * Invariant: what lies under a digest is complete and on disk, since it is renamed into place last, and away first.
 * The time of the folder itself says when the image was last seen in use.
 */
import { createHash } from 'node:crypto';
import { existsSync, renameSync } from 'node:fs';
import {
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { randomText } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Helpers } from './helpers.ts';
import { digestPattern, type ImageRecord, readImageRecord } from './record.ts';

export class ImageFolders {
  readonly #root: string;
  readonly #helpers: Helpers;
  /** Of images that are here: they never change, so a record that was read stays true until its image is buried. */
  readonly #records = new Map<string, ImageRecord>();

  constructor(dataDir: string, helpers: Helpers) {
    this.#root = join(dataDir, 'images');
    this.#helpers = helpers;
  }

  /** Makes the folders, and removes what was being made when an earlier service ended. */
  async init(): Promise<void> {
    for (const name of ['references', 'tmp']) {
      await mkdir(join(this.#root, name), { recursive: true, mode: 0o700 });
    }
    for (const name of await readdir(join(this.#root, 'tmp')))
      await this.discard(join(this.#root, 'tmp', name));
  }

  rootfs(digest: string): string {
    return join(this.#folder(digest), 'rootfs');
  }

  async read(digest: string): Promise<ImageRecord | null> {
    const known = this.#records.get(digest);
    if (known) return known;
    const record = digestPattern.test(digest) ? await readImageRecord(this.#folder(digest)) : null;
    // It may have been buried since its file was read; what is remembered is there at that moment.
    if (!record || !existsSync(this.#folder(digest))) return null;
    this.#records.set(digest, record);
    return record;
  }

  /** Returns the image of this name's last pull; null when there was none or the image is gone. */
  async readReference(name: string): Promise<ImageRecord | null> {
    const text = await readFile(this.#referenceFile(name), 'utf8').catch(() => '');
    return this.read(text.trim());
  }

  async writeReference(name: string, digest: string): Promise<void> {
    const folder = await this.temporary();
    const file = join(folder, 'reference');
    await writeFile(file, `${digest}\n`, { flush: true });
    await rename(file, this.#referenceFile(name));
    await syncFolder(join(this.#root, 'references'));
    await this.discard(folder);
  }

  /** A folder for work in progress, on the same file system as the finished images. */
  temporary(): Promise<string> {
    return mkdtemp(join(this.#root, 'tmp', 'work-'));
  }

  /** By rm, which descends by descriptors: folders of an image may be nested more deeply than a path can say. */
  async discard(folder: string): Promise<void> {
    await this.#helpers.run('rm', ['-rf', '--one-file-system', folder], {
      timeoutMs: limits.image.pullTimeoutMs,
    });
  }

  /** Puts a `rootfs` that is whole and on disk in its place. An image that is there already wins. */
  async commit(work: string, record: ImageRecord): Promise<ImageRecord> {
    const staged = join(work, 'image');
    await mkdir(staged, { mode: 0o755 });
    await rename(join(work, 'rootfs'), join(staged, 'rootfs'));
    await writeFile(join(staged, 'image.json'), `${JSON.stringify(record, null, 2)}\n`, { flush: true });
    await syncFolder(staged);
    try {
      await rename(staged, this.#folder(record.digest));
    } catch (error) {
      if (!['EEXIST', 'ENOTEMPTY'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
    await syncFolder(this.#root);
    return (await this.read(record.digest)) ?? record;
  }

  /** Digests of all images that are here. */
  async list(): Promise<string[]> {
    return (await readdir(this.#root)).filter((name) => digestPattern.test(name));
  }

  /** Counts as in use now. */
  async touch(digest: string): Promise<void> {
    const now = new Date();
    await utimes(this.#folder(digest), now, now).catch(() => {});
  }

  /** Milliseconds since the epoch. */
  async usedAt(digest: string): Promise<number> {
    return (await stat(this.#folder(digest))).mtimeMs;
  }

  /**
   * Takes an image away, in one step that nothing comes between, and gives back the folder that is to be discarded;
   * a service that is killed before that finds it in `tmp/`.
   */
  bury(digest: string): string {
    const grave = join(this.#root, 'tmp', `removed-${randomText(12)}`);
    this.#records.delete(digest);
    renameSync(this.#folder(digest), grave);
    return grave;
  }

  /** Removes the names of images that are gone. */
  async dropDeadReferences(): Promise<void> {
    const folder = join(this.#root, 'references');
    for (const name of await readdir(folder)) {
      const digest = (await readFile(join(folder, name), 'utf8').catch(() => '')).trim();
      if (digest !== '' && (await this.read(digest)) === null) await rm(join(folder, name), { force: true });
    }
  }

  #folder(digest: string): string {
    if (!digestPattern.test(digest)) throw new Error('an image digest is 64 hexadecimal digits');
    return join(this.#root, digest);
  }

  #referenceFile(name: string): string {
    return join(this.#root, 'references', createHash('sha256').update(name).digest('hex'));
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
