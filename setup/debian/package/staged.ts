/** Writes files of a package below a staged root. */
import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { constants, gzipSync } from 'node:zlib';

export interface Staged {
  root: string;
  /** @param path Final path without its first slash. */
  text(path: string, text: string, mode?: number): Promise<void>;
  /** Compressed as Debian wants documents: the smallest, without name and time. */
  zipped(path: string, text: string): Promise<void>;
  copy(from: string, path: string, mode?: number): Promise<void>;
}

/** Byte of gzip's header that names the system: Unix, as gzip itself writes. */
const SYSTEM_AT = 9;
const UNIX = 3;

export function staged(root: string): Staged {
  const place = async (path: string): Promise<string> => {
    const final = join(root, path);
    await mkdir(dirname(final), { recursive: true });
    return final;
  };
  return {
    root,

    async text(path, text, mode = 0o644) {
      const final = await place(path);
      await writeFile(final, text);
      await chmod(final, mode);
    },

    async zipped(path, text) {
      const bytes = gzipSync(text, { level: constants.Z_BEST_COMPRESSION });
      // Maximum compression is part of the header too.
      bytes[8] = 2;
      bytes[SYSTEM_AT] = UNIX;
      await writeFile(await place(`${path}.gz`), bytes);
    },

    async copy(from, path, mode = 0o644) {
      const final = await place(path);
      await copyFile(from, final);
      await chmod(final, mode);
    },
  };
}
