/**
 * Restores a backup into a new data directory. Everything is made in a folder beside it and verified there; one rename
 * puts it in place, so whatever is killed when, the data directory is empty or whole.
 */
import { createHash } from 'node:crypto';
import { chmod, copyFile, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import {
  AUDIT_CHECKPOINT,
  digestOfImage,
  type Entry,
  folderOfDisk,
  KEY_FILES,
  MANIFEST,
  notABackup,
  ROWS,
  unfinished,
} from '../../../backup/entry.ts';
import { syncFolder, writeEntry } from '../../../backup/folder.ts';
import { assertOwn, type BackupFile, type Manifest, readManifest } from '../../../backup/manifest.ts';
import type { DiskStoreOptions } from '../../../model/disk-store.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { openDiskStore, unmountDiskStore } from '../../../runtime/oci/disk/disk-store.ts';
import { disksFolder } from '../../../runtime/oci/host/layout.ts';
import { freeDiskBytes } from '../../../runtime/oci/host/room.ts';
import { lockDataDirectory } from '../../../store/data-directory.ts';
import { type Secrets, secretsOf } from '../../../store/files/secrets.ts';
import { migrations } from '../../../store/sql/schema.ts';
import { countFromRestore } from '../../../store/sqlite/backup-rows.ts';
import { launcher } from '../../engine/engine.ts';
import { noRoom, syncFileSystem, unpackDisk, unpackImage, unpackRows } from './unpack.ts';

export interface RestoreOptions {
  dataDir: string;
  /** File with the secret key; null when it is in the backup. */
  keyFile: string | null;
  /** File system that the disks of the new data directory lie in. */
  diskStore: DiskStoreOptions;
  now: number;
  signal: AbortSignal;
}

export const newestSchema = migrations.at(-1)?.version ?? 0;

/** Rejects with `failed_precondition`; then the data directory is as before. */
export async function restoreBackup(
  entries: AsyncIterable<Entry>,
  options: RestoreOptions,
): Promise<Manifest> {
  const dataDir = resolve(options.dataDir);
  await assertEmpty(dataDir);
  const folder = `${dataDir}.restoring`;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  const lock = lockDataDirectory(folder);
  try {
    // Of a restore that was killed.
    await unmountDiskStore(folder);
    for (const name of await readdir(folder))
      if (!name.startsWith('service.lock')) await rm(join(folder, name), { recursive: true, force: true });
    if (options.diskStore.kind === 'xfs') await openDiskStore(folder, launcher(), options.diskStore);
    const manifest = await restoreInto(folder, entries, options);
    await assertEmpty(dataDir);
    // The service mounts it where it is then.
    await unmountDiskStore(folder);
    await rename(folder, dataDir);
    await syncFolder(dirname(dataDir));
    return manifest;
  } catch (error) {
    await unmountDiskStore(folder);
    await rm(folder, { recursive: true, force: true });
    throw error;
  } finally {
    lock.release();
  }
}

async function restoreInto(
  folder: string,
  entries: AsyncIterable<Entry>,
  { keyFile, now, signal }: RestoreOptions,
): Promise<Manifest> {
  // Archives are moved from there to their sandboxes.
  const disksIn = disksFolder(folder);
  const packed = join(disksIn, 'packed');
  await mkdir(packed, { mode: 0o700 });
  const received = await receive(packed, entries, signal);
  if (!received.has(MANIFEST)) throw unfinished();
  const signed = readManifest(await readFile(join(packed, MANIFEST)), newestSchema);
  const { manifest } = signed;
  assertAllThere(manifest.files, received);
  const key = await readKey(keyFile ?? join(packed, 'secret.key'));
  assertOwn(signed, secretsFrom(key));
  await writeKey(join(folder, 'secret.key'), key);
  if (received.has('api-key'))
    await writeKey(join(folder, 'api-key'), await readFile(join(packed, 'api-key')));
  await unpackRows(join(packed, ROWS), join(folder, 'sandhaven.db'), signal);
  countFromRestore(join(folder, 'sandhaven.db'), now);
  for (const { name } of manifest.files) {
    signal.throwIfAborted();
    const disks = folderOfDisk(name);
    const digest = digestOfImage(name);
    if (digest !== null) await unpackImage(join(packed, name), join(folder, 'images'), digest, signal);
    else if (disks !== null) {
      await unpackDisk(join(packed, name), join(disksIn, disks), signal);
    } else if (name === AUDIT_CHECKPOINT) await copyFile(join(packed, name), join(folder, name));
    else if (name !== ROWS) {
      await mkdir(dirname(join(disksIn, name)), { recursive: true, mode: 0o700 });
      await rename(join(packed, name), join(disksIn, name));
    }
  }
  await rm(packed, { recursive: true });
  for (const place of new Set([folder, disksIn])) await syncFileSystem(place, signal);
  return manifest;
}

/** Writes everything down as it comes. Returns length and digest of each file. */
async function receive(
  folder: string,
  entries: AsyncIterable<Entry>,
  signal: AbortSignal,
): Promise<Map<string, Omit<BackupFile, 'name'>>> {
  const received = new Map<string, Omit<BackupFile, 'name'>>();
  for await (const entry of entries) {
    signal.throwIfAborted();
    const { name, sizeBytes } = entry;
    if (received.has(name)) throw notABackup('it has a file twice.');
    if (received.size >= limits.backups.files) throw notABackup('it has too many files.');
    const isSmall = name === MANIFEST || KEY_FILES.some((key) => key === name);
    const most = name === MANIFEST ? limits.backups.manifestBytes : limits.backups.keyFileBytes;
    if (isSmall && sizeBytes > most) throw notABackup(`its file ${name} is too large.`);
    if ((await freeDiskBytes(folder)) - sizeBytes < limits.backups.keptFreeBytes) throw noRoom();
    const hash = createHash('sha256');
    await writeEntry(folder, entry, (piece) => {
      signal.throwIfAborted();
      hash.update(piece);
    });
    received.set(name, { size_bytes: sizeBytes, sha256: hash.digest('hex') });
  }
  return received;
}

function assertAllThere(files: BackupFile[], received: Map<string, Omit<BackupFile, 'name'>>): void {
  for (const { name, size_bytes: size, sha256 } of files) {
    const found = received.get(name);
    if (found === undefined) throw notABackup(`its file ${name} is missing.`);
    if (found.size_bytes !== size || found.sha256 !== sha256)
      throw notABackup(`its file ${name} was changed.`);
  }
  if (!files.some(({ name }) => name === ROWS)) throw notABackup('it has no rows.');
}

async function assertEmpty(dataDir: string): Promise<void> {
  const names = await readdir(dataDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (names === null) return void (await mkdir(dirname(dataDir), { recursive: true }));
  if (names.length > 0) {
    throw new SandhavenError('failed_precondition', `The data directory ${dataDir} is not empty.`, {
      hint: 'Nothing was changed. Give a new folder with --data-dir, or move the old one away.',
    });
  }
  if ((await stat(dataDir)).dev === (await stat(dirname(dataDir))).dev) return;
  throw new SandhavenError('failed_precondition', `The data directory ${dataDir} is a mount point.`, {
    hint: `Nothing was changed. Give a folder in it: --data-dir ${join(dataDir, 'data')}`,
  });
}

async function readKey(file: string): Promise<Buffer> {
  const handle = await open(file, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    throw new SandhavenError('failed_precondition', 'The backup has no secret key.', {
      hint: 'Nothing was restored. Give the secret.key of the old data directory: --key-file FILE',
    });
  });
  try {
    if ((await handle.stat()).size <= limits.backups.keyFileBytes) return await handle.readFile();
  } finally {
    await handle.close();
  }
  throw new SandhavenError('failed_precondition', `${file} is not a secret key.`, {
    hint: 'Nothing was restored. Give the secret.key of the old data directory.',
  });
}

const secretsFrom = (key: Buffer): Pick<Secrets, 'keyId' | 'deriveKey'> => secretsOf(key);

async function writeKey(file: string, key: Buffer): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  await handle.writeFile(key).finally(() => handle.close());
}
