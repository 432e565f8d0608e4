/** Atomic writes of small files (mode 0600): a crash leaves the old or the new content, never a part. */
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { randomText } from '../../model/ids.ts';

/** Returns the file's bytes; creates a missing file with those of `make`. One of several concurrent creators wins. */
export function readOrCreate(file: string, make: () => Uint8Array): Buffer {
  const existing = readIfThere(file);
  if (existing) return existing;
  viaTemporary(file, make(), (temporary) => {
    try {
      linkSync(temporary, file);
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    }
  });
  return readFileSync(file);
}

export function replaceFile(file: string, content: Uint8Array): void {
  viaTemporary(file, content, (temporary) => renameSync(temporary, file));
}

/** As `replaceFile`, without blocking the thread on the disk. */
export async function replaceFileAside(file: string, content: Uint8Array): Promise<void> {
  const temporary = `${file}.${randomText(8)}.tmp`;
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
  const directory = await open(dirname(file), 'r');
  await directory.sync().finally(() => directory.close());
}

export function readIfThere(file: string): Buffer | null {
  try {
    return readFileSync(file);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

function viaTemporary(file: string, content: Uint8Array, put: (temporary: string) => void): void {
  const temporary = `${file}.${randomText(8)}.tmp`;
  try {
    const descriptor = openSync(temporary, 'wx', 0o600);
    try {
      writeFileSync(descriptor, content);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    put(temporary);
  } finally {
    rmSync(temporary, { force: true });
  }
  syncDirectory(dirname(file));
}

function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
