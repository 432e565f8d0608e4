/** Backups as folders: written file by file with the manifest last, and read as hostile files. */
import { constants } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SandhavenError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { type Entry, isEntryName, KEY_FILES, MANIFEST, notABackup, unfinished } from './entry.ts';
import { readManifest } from './manifest.ts';

/** Makes the folder; rejects one with content with `failed_precondition`. A failure leaves it empty. */
export async function writeFolder(
  folder: string,
  entries: AsyncIterable<Entry>,
  onEntry: (entry: Entry) => void,
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 0) {
    throw new SandhavenError('failed_precondition', `The folder ${folder} is not empty.`, {
      hint: 'Give a new folder, or remove the remains of an interrupted backup first.',
    });
  }
  let isFinished = false;
  try {
    for await (const entry of entries) {
      await writeEntry(folder, entry);
      onEntry(entry);
      isFinished ||= entry.name === MANIFEST;
    }
    if (!isFinished) throw unfinished();
  } catch (error) {
    for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true });
    throw error;
  }
}

/** Writes one file of a backup durably; it gets its name once it is whole. */
export async function writeEntry(
  folder: string,
  { name, content }: Entry,
  onPiece: (piece: Buffer) => void = () => {},
): Promise<void> {
  if (!isEntryName(name)) throw notABackup('it has a file that no backup has.');
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const partial = `${path}.partial`;
  const file = await open(partial, 'wx', 0o600);
  try {
    for await (const piece of content) {
      onPiece(piece);
      await file.writeFile(piece);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(partial, path);
  await syncFolder(dirname(path));
}

/** Gives keys first and the manifest last, as a stream does. Rejects a folder without a manifest. */
export async function* entriesOfFolder(folder: string, newestSchema: number): AsyncGenerator<Entry> {
  const manifest = await bytesOf(join(folder, MANIFEST));
  if (manifest === null) throw unfinished();
  const { files } = readManifest(manifest, newestSchema).manifest;
  for (const name of KEY_FILES) {
    const key = await entryOf(folder, name);
    if (key !== null) yield key;
  }
  for (const { name } of files) {
    const entry = await entryOf(folder, name);
    if (entry === null) throw notABackup(`its file ${name} is missing.`);
    yield entry;
  }
  yield { name: MANIFEST, sizeBytes: manifest.length, content: once(manifest) };
}

/** Returns null for a missing file. Follows no link, and opens no device. */
async function entryOf(folder: string, name: string): Promise<Entry | null> {
  const file = await openRegular(join(folder, name));
  if (file === null) return null;
  const { size } = await file.stat();
  const content = file.createReadStream({ highWaterMark: limits.backups.pieceBytes });
  return { name, sizeBytes: size, content };
}

async function bytesOf(path: string): Promise<Buffer | null> {
  const file = await openRegular(path);
  if (file === null) return null;
  try {
    if ((await file.stat()).size > limits.backups.manifestBytes)
      throw notABackup('its manifest is too large.');
    return await file.readFile();
  } finally {
    await file.close();
  }
}

async function openRegular(path: string) {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  try {
    const file = await open(path, flags);
    if ((await file.stat()).isFile()) return file;
    await file.close();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    if (code !== 'ELOOP') throw error;
  }
  throw notABackup('it has a link or a device where a file belongs.');
}

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

export async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
