/** Small files that are there wholly or not at all, with mode 0600, also after a crash. */
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
import { randomText } from '../model/ids.ts';

/** The file's bytes; those of `make` when there was none. Of several that create it at once, one wins. */
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

/** As `replaceFile`, without holding up the thread while the disk is waited for. */
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
