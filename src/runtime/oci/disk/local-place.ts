/**
 * Archives as files of this host, each in the folder of its sandbox. A file gets its name once it is whole and on the
 * disk, so a crash leaves a part under another name, or the archive.
 */
import { open, readdir, rm, stat } from 'node:fs/promises';
import { abortable } from '../../../concurrency/deadline.ts';
import { sandboxIdPattern } from '../../../model/ids.ts';
import type { ArchiveLocation } from '../../../model/sandbox.ts';
import type { ArchivePlace, TransferOptions } from '../../archives/places.ts';
import { commit, removeDurably, unlessMissing } from '../host/files.ts';

export interface LocalFolders {
  /** Folder of folders, one per sandbox, named by its id; a `put` needs the sandbox's. */
  sandboxes: string;
  /** Path of a sandbox's archive. */
  archive(id: string): string;
}

const PARTIAL = '.partial';
const LOCAL: ArchiveLocation = { store: 'local' };

export function createLocalPlace({ sandboxes: folder, archive: archiveOf }: LocalFolders): ArchivePlace {
  async function write(
    path: string,
    bytes: AsyncIterable<Uint8Array>,
    { signal }: TransferOptions,
  ): Promise<number> {
    const file = await open(path, 'w', 0o600);
    let size = 0;
    try {
      for await (const piece of abortable(bytes, signal)) {
        await file.writeFile(piece);
        size += piece.byteLength;
      }
    } finally {
      await file.close();
    }
    return size;
  }

  return {
    locate: () => LOCAL,

    async put(id, _location, bytes, options = {}) {
      const archive = archiveOf(id);
      try {
        const size = await write(archive + PARTIAL, bytes, options);
        await commit(archive + PARTIAL, archive);
        return size;
      } catch (error) {
        await rm(archive + PARTIAL, { force: true });
        throw error;
      }
    },

    async putFile(id, _location, file) {
      await commit(file, archiveOf(id));
      return (await stat(archiveOf(id))).size;
    },

    async get(id, _location, { signal } = {}) {
      const file = await unlessMissing(open(archiveOf(id), 'r'));
      if (file === null) return null;
      const { size } = await file.stat();
      return { sizeBytes: size, bytes: file.createReadStream({ signal }) };
    },

    getFile: async (id) => ((await unlessMissing(stat(archiveOf(id)))) === null ? null : archiveOf(id)),

    async remove(id) {
      await rm(archiveOf(id) + PARTIAL, { force: true });
      await removeDurably(archiveOf(id));
    },

    async *list({ signal } = {}) {
      for (const id of await readdir(folder)) {
        signal?.throwIfAborted();
        const found = sandboxIdPattern.test(id) ? await unlessMissing(stat(archiveOf(id))) : null;
        if (found === null) continue;
        yield { id, location: LOCAL, sizeBytes: found.size, ageMs: Math.max(0, Date.now() - found.mtimeMs) };
      }
    },

    async sweep(olderThanMs, { signal } = {}) {
      for (const id of await readdir(folder)) {
        signal?.throwIfAborted();
        const partial = archiveOf(id) + PARTIAL;
        const found = await unlessMissing(stat(partial));
        if (found !== null && Date.now() - found.mtimeMs >= olderThanMs) await removeDurably(partial);
      }
    },

    close: () => {},
  };
}
