/**
 * Note of an archive that lies outside this host, in the sandbox's folder: by it a sandbox's traces are known without
 * asking the outside.
 *
 * Invariant: the note is on the disk before the archive is begun, and goes after the archive.
 */
import { readFile, stat, writeFile } from 'node:fs/promises';
import type { ArchiveLocation } from '../../../model/sandbox.ts';
import { commit, removeDurably, unlessMissing } from '../host/files.ts';
import type { Layout } from '../host/layout.ts';

export interface ArchiveNotes {
  /** Returns null without a note, or with one that cannot be read. */
  read(id: string): Promise<ArchiveLocation | null>;
  write(id: string, location: ArchiveLocation): Promise<void>;
  remove(id: string): Promise<void>;
}

export function createArchiveNotes(layout: Pick<Layout, 'archiveNote'>): ArchiveNotes {
  return {
    async read(id) {
      const text = await unlessMissing(readFile(layout.archiveNote(id), 'utf8'));
      return text === null ? null : parse(text);
    },
    async write(id, location) {
      const note = layout.archiveNote(id);
      await writeFile(`${note}.partial`, JSON.stringify(location), { mode: 0o600 });
      await commit(`${note}.partial`, note);
    },
    async remove(id) {
      const note = layout.archiveNote(id);
      if ((await unlessMissing(stat(note))) !== null) await removeDurably(note);
    },
  };
}

function parse(text: string): ArchiveLocation | null {
  try {
    const { store, bucket, key } = JSON.parse(text);
    return store === 's3' && typeof bucket === 'string' && typeof key === 'string'
      ? { store, bucket, key }
      : null;
  } catch {
    return null;
  }
}
