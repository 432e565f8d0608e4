/**
 * Makes a backup of a service on this machine, beside it or in its place: rows first, then the files of each sandbox with
 * the row that it has at that moment. Everything is copied into a folder of the data directory and leaves from there, so
 * that a slow reader holds up nobody.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  AUDIT_CHECKPOINT,
  archiveNoteOf,
  archiveOf,
  capturedDiskOf,
  diskOf,
  type Entry,
  imageOf,
  MANIFEST,
  ROWS,
} from '../../../backup/entry.ts';
import { once } from '../../../backup/folder.ts';
import { type BackupFile, backupKey, type LeftOut, writeManifest } from '../../../backup/manifest.ts';
import type { Log } from '../../../control/ports/index.ts';
import { version } from '../../../home.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import type { LocalImages } from '../../../runtime/images/images.ts';
import { disksFolder } from '../../../runtime/oci/host/layout.ts';
import type { SandboxCopies } from '../../../runtime/oci/storage/copies.ts';
import type { DataDirectory } from '../../../store/data-directory.ts';
import { readIfThere } from '../../../store/files/durable-file.ts';
import type { Secrets } from '../../../store/files/secrets.ts';
import { storeNameIn } from '../../../store/open-store.ts';
import { type BackupRows, type CurrentRow, copyRows } from '../../../store/sqlite/backup-rows.ts';

export interface BackupSource {
  data: DataDirectory;
  secrets: Pick<Secrets, 'keyId' | 'deriveKey'>;
  copies: SandboxCopies;
  images: LocalImages;
  log: Log;
}

/** Ends with the manifest. Rejects with `failed_precondition` when the store is in PostgreSQL. */
export async function* makeBackup(source: BackupSource, signal: AbortSignal): AsyncGenerator<Entry> {
  assertInSqlite(source.data);
  const spool = spoolOf(source.data);
  await rm(spool, { recursive: true, force: true });
  await mkdir(spool, { mode: 0o700 });
  try {
    yield* entriesOf(source, spool, signal);
  } finally {
    await rm(spool, { recursive: true, force: true });
  }
}

/** Removes what a killed backup has left. The caller holds the lock of the data directory. */
export async function removeBackupRemains(data: DataDirectory): Promise<void> {
  await rm(spoolOf(data), { recursive: true, force: true });
}

/** Beside the disks, so that a copy of one is a clone where their file system has them. */
const spoolOf = ({ path }: DataDirectory): string => join(disksFolder(path), 'backup');

async function* entriesOf(source: BackupSource, spool: string, signal: AbortSignal): AsyncGenerator<Entry> {
  const { data, secrets, copies } = source;
  const files: BackupFile[] = [];
  const leftOut: LeftOut[] = [];
  // Read before the rows, so that it never names a row that the backup lacks.
  const checkpoint = readIfThere(data.auditCheckpointFile);
  const rowsFile = join(spool, 'sandhaven.db');
  const rows = await copyRows(data.databaseFile, rowsFile);
  try {
    for (const id of rows.sandboxes())
      yield* sandboxEntries(source, { id, rows, spool, files, leftOut, signal });
    for (const id of rows.capturedDisks())
      yield* capturedDiskEntries(source, { id, rows, spool, files, signal });
    for (const digest of rows.images()) yield* imageEntries(source, { digest, spool, files, signal });
    rows.finish(Date.now());
  } finally {
    rows.close();
  }
  const packedRows = join(spool, ROWS);
  await copies.compress(rowsFile, packedRows, signal);
  yield await fileEntry(ROWS, packedRows, files);
  if (checkpoint !== null) yield bytesEntry(AUDIT_CHECKPOINT, checkpoint, files);
  const manifest = writeManifest(
    {
      service_version: version,
      schema_version: rows.schemaVersion,
      instance: data.instance,
      made_at: new Date().toISOString(),
      key_id: secrets.keyId,
      files,
      left_out: leftOut,
    },
    backupKey(secrets),
  );
  yield { name: MANIFEST, sizeBytes: manifest.length, content: once(manifest) };
}

interface SandboxWork {
  id: string;
  rows: BackupRows;
  spool: string;
  files: BackupFile[];
  leftOut: LeftOut[];
  signal: AbortSignal;
}

/** A sandbox that cannot be copied keeps no other from being in the backup; its reason is in the manifest. */
async function* sandboxEntries(
  { copies, log }: BackupSource,
  { id, rows, spool, files, leftOut, signal }: SandboxWork,
): AsyncGenerator<Entry> {
  const folder = join(spool, id);
  try {
    const copied = await consistentCopy(copies, rows, { id, folder, signal });
    if (copied === 'gone') rows.remove(id);
    else for (const [name, path] of copied) yield await fileEntry(name, path, files);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof SandhavenError) || error.code === 'resource_exhausted') throw error;
    log.warn('a sandbox is left out of the backup', { sandbox: id, error });
    rows.markLeftOut(id, `The backup has no content of it. ${error.message}`);
    leftOut.push({ sandbox: id, reason: error.message });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A snapshot that was deleted meanwhile is not in the backup. */
async function* capturedDiskEntries(
  { copies }: BackupSource,
  { id, rows, spool, files, signal }: Omit<SandboxWork, 'leftOut'>,
): AsyncGenerator<Entry> {
  const folder = join(spool, id);
  try {
    const packed = await copies.packCapture(id, folder, signal);
    if (packed === null) rows.removeSnapshot(id);
    else yield await fileEntry(capturedDiskOf(id), packed, files);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A disk holds only what differs from its image, which nobody else may have: a base image is built on its host. */
async function* imageEntries(
  { images, copies, log }: BackupSource,
  { digest, spool, files, signal }: Pick<SandboxWork, 'spool' | 'files' | 'signal'> & { digest: string },
): AsyncGenerator<Entry> {
  const image = await images.get(digest);
  if (image === null) {
    log.warn('an image is not on this host, and not in the backup', { digest });
    return;
  }
  const packed = join(spool, `${digest}.tar.zst`);
  const { sizeBytes } = image;
  const folder = dirname(images.rootfsPath(digest));
  await images.use({ digest }, () => copies.packImage({ folder, sizeBytes }, packed, signal));
  try {
    yield await fileEntry(imageOf(digest), packed, files);
  } finally {
    await rm(packed, { force: true });
  }
}

/** Copies until the row before and after is the same. Returns the files by their names in the backup. */
async function consistentCopy(
  copies: SandboxCopies,
  rows: BackupRows,
  { id, folder, signal }: { id: string; folder: string; signal: AbortSignal },
): Promise<'gone' | [name: string, path: string][]> {
  for (let attempt = 0; attempt < limits.backups.attempts; attempt++) {
    await rm(folder, { recursive: true, force: true });
    const before = rows.current(id);
    if (before === null) return 'gone';
    const { disk, archive, archiveNote } = await copies.copy(id, folder, signal);
    const after = rows.current(id);
    if (after === null) return 'gone';
    if (after.version !== before.version) continue;
    if (!rows.take(id)) throw leftOutAs('Its name was given to another sandbox meanwhile.');
    const found: Record<CurrentRow['content'], [string, string | null]> = {
      disk: [diskOf(id), disk],
      archive: [archiveOf(id), archive],
      outside: [archiveNoteOf(id), archiveNote],
    };
    const [name, path] = found[after.content];
    if (path === null) throw leftOutAs(`Its ${after.content === 'disk' ? 'disk' : 'archive'} is missing.`);
    return [[name, path]];
  }
  throw leftOutAs('It changed again and again while it was copied.');
}

function leftOutAs(detail: string): SandhavenError {
  return new SandhavenError('unavailable', detail);
}

async function fileEntry(name: string, path: string, files: BackupFile[]): Promise<Entry> {
  const { size } = await stat(path);
  return { name, sizeBytes: size, content: hashed(name, size, () => piecesOf(path), files) };
}

function bytesEntry(name: string, bytes: Buffer, files: BackupFile[]): Entry {
  return { name, sizeBytes: bytes.length, content: hashed(name, bytes.length, () => once(bytes), files) };
}

const piecesOf = (path: string): AsyncIterable<Buffer> =>
  createReadStream(path, { highWaterMark: limits.backups.pieceBytes });

/** Hashes a file while it is read, and lists it then. Nothing is opened before. */
async function* hashed(
  name: string,
  sizeBytes: number,
  read: () => AsyncIterable<Buffer>,
  files: BackupFile[],
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  for await (const piece of read()) {
    hash.update(piece);
    yield piece;
  }
  files.push({ name, size_bytes: sizeBytes, sha256: hash.digest('hex') });
}

function assertInSqlite(data: DataDirectory): void {
  const name = storeNameIn(data);
  if (name === null) return;
  throw new SandhavenError('failed_precondition', `The store is the PostgreSQL database '${name}'.`, {
    hint: 'Stop the service; dump the database with pg_dump, and copy the data directory beside the dump (docs/backup.md).',
  });
}
