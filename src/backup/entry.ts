/** Files of a backup, in the order in which they are written: the manifest comes last. */
import { SandhavenError } from '../model/errors.ts';

export interface Entry {
  name: string;
  sizeBytes: number;
  /** Read once, to its end, before the next entry is asked for. */
  content: AsyncIterable<Buffer>;
}

export const MANIFEST = 'manifest.json';
export const ROWS = 'sandhaven.db.zst';
export const AUDIT_CHECKPOINT = 'audit-checkpoint';
/** Only with `--with-keys`, first, and in no manifest: the manifest is checked with the secret key. */
export const KEY_FILES = ['secret.key', 'api-key'] as const;

export const diskOf = (id: string): string => `sandboxes/${id}/disk.tar.zst`;
/** Disk of a snapshot of a sandbox. */
export const capturedDiskOf = (id: string): string => `captures/${id}/disk.tar.zst`;
export const archiveOf = (id: string): string => `sandboxes/${id}/archive.tar.zst`;
export const archiveNoteOf = (id: string): string => `sandboxes/${id}/archive.json`;

export const imageOf = (digest: string): string => `images/${digest}.tar.zst`;

const ofImage = /^images\/([0-9a-f]{64})\.tar\.zst$/;
const ofSandbox = /^sandboxes\/(sb_[0-9a-z]{16})\/(disk\.tar\.zst|archive\.tar\.zst|archive\.json)$/;

const ofCapture = /^captures\/(snap_[0-9a-z]{16})\/disk\.tar\.zst$/;

/** Returns true for the names that a backup has; no other file of one is ever read or written. */
export function isEntryName(name: string): boolean {
  return (
    name === MANIFEST ||
    name === ROWS ||
    name === AUDIT_CHECKPOINT ||
    KEY_FILES.some((key) => key === name) ||
    ofSandbox.test(name) ||
    ofCapture.test(name) ||
    ofImage.test(name)
  );
}

/** Returns the folder of the data directory that this disk belongs in; null for another file. */
export function folderOfDisk(name: string): string | null {
  const [, id = '', file] = ofSandbox.exec(name) ?? [];
  if (file === 'disk.tar.zst') return `sandboxes/${id}`;
  const captured = ofCapture.exec(name)?.[1];
  return captured === undefined ? null : `captures/${captured}`;
}

/** Returns the digest of the image in this file; null for another file. */
export function digestOfImage(name: string): string | null {
  return ofImage.exec(name)?.[1] ?? null;
}

/** Returns the sandbox that this file is of; null for another file. */
export function sandboxOfFile(name: string): string | null {
  return ofSandbox.exec(name)?.[1] ?? null;
}

export function notABackup(detail: string): SandhavenError {
  return new SandhavenError('failed_precondition', `This is not a backup, or it is damaged: ${detail}`, {
    hint: 'Nothing was restored. Take another backup.',
  });
}

export function unfinished(): SandhavenError {
  return new SandhavenError(
    'failed_precondition',
    'The backup has no manifest.json: it was never finished, and cannot be restored.',
    { hint: 'Nothing was restored. Take a backup whose `sandhaven backup` ended with "Finished".' },
  );
}
