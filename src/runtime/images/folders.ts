/**
 * Folder `images` of the data directory: `<digest>/{rootfs/,image.json}`, `references/` (the digest of each pulled
 * name) and `tmp/` (work in progress, and images being removed).
 *
 * Invariant: an image under a digest is complete and on disk, since it is renamed into place last, and away first.
 * The folder's modification time is the time at which the image was last seen in use.
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
import type { Helpers } from './registry/helpers.ts';
import { digestPattern, type ImageRecord, readImageRecord } from './registry/record.ts';

export class ImageFolders {
  readonly #root: string;
  readonly #helpers: Helpers;
  /** Records of present images. They never change, so a record stays true until its image is buried. */
  readonly #records = new Map<string, ImageRecord>();

  constructor(dataDir: string, helpers: Helpers) {
    this.#root = join(dataDir, 'images');
    this.#helpers = helpers;
  }

  /** Makes the folders, and removes unfinished work of an earlier service. */
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
    // The image may have been buried since its file was read; only a present one is remembered.
    if (!record || !existsSync(this.#folder(digest))) return null;
    this.#records.set(digest, record);
    return record;
  }

  /** Returns the image of this name's last pull; null without a pull, or when the image is gone. */
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

  /** Makes a folder for work in progress, on the same file system as the finished images. */
  temporary(): Promise<string> {
    return mkdtemp(join(this.#root, 'tmp', 'work-'));
  }

  /** Runs rm, which descends by descriptors: folders of an image may be nested more deeply than a path can express. */
  async discard(folder: string): Promise<void> {
    await this.#helpers.run('rm', ['-rf', '--one-file-system', folder], {
      timeoutMs: limits.image.pullTimeoutMs,
    });
  }

  /** Renames a whole, synced `rootfs` into its place. Keeps an existing image of the same digest. */
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

  /** Digests of all present images. */
  async list(): Promise<string[]> {
    return (await readdir(this.#root)).filter((name) => digestPattern.test(name));
  }

  /** Marks the image as in use now. */
  async touch(digest: string): Promise<void> {
    const now = new Date();
    await utimes(this.#folder(digest), now, now).catch(() => {});
  }

  /** Time of last use, in milliseconds since the epoch. */
  async usedAt(digest: string): Promise<number> {
    return (await stat(this.#folder(digest))).mtimeMs;
  }

  /**
   * Takes an image away in one synchronous step, and returns the folder to discard. After a kill before that, the next
   * service finds it in `tmp/`.
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
