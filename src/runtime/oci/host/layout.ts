/**
 * Layout of the runtime's files, all named after the sandbox, so that the remains of a crash are found by listing
 * folders. Data survives a reboot; the run folder does not have to.
 */
import { existsSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

export interface Layout {
  /** One folder per sandbox. Invariant: it is the first trace of a sandbox to appear and the last to go. */
  sandboxes: string;
  sandbox(id: string): string;
  disk(id: string): string;
  archive(id: string): string;
  /** Path of the note of an archive that lies outside this host. */
  archiveNote(id: string): string;
  /** Path of a generation's OCI bundle; the newest is of the last start. */
  bundle(id: string, generation: number): string;
  /** Captured disks, each in a folder of its own. */
  captures: string;
  capture(id: string): string;
  /** Disks made ahead of need. */
  pool: string;
  /** Folders of deleted sandboxes, until their bytes are gone. */
  trash: string;
  /** Agent programs by digest. */
  agents: string;
  /** State of machines, by sandbox: runc's, and that of machines started without it. */
  runc: string;
  state(id: string): string;
  sockets: string;
  socket(id: string): string;
  /** Empty on the host; every launcher mounts its own machine here, in its own mount namespace. */
  stage: string;
}

export function createLayout(dataDir: string, runDir: string): Layout {
  const disks = disksFolder(dataDir);
  const sandboxes = join(disks, 'sandboxes');
  const sockets = join(runDir, 's');
  return {
    sandboxes,
    sandbox: (id) => join(sandboxes, id),
    disk: (id) => join(sandboxes, id, 'disk.img'),
    archive: (id) => join(sandboxes, id, 'archive.tar.zst'),
    archiveNote: (id) => join(sandboxes, id, 'archive.json'),
    bundle: (id, generation) => join(sandboxes, id, `g${generation}`),
    captures: join(disks, 'captures'),
    capture: (id) => join(disks, 'captures', id, 'disk.img'),
    pool: join(disks, 'pool'),
    trash: join(disks, 'trash'),
    agents: join(dataDir, 'agents'),
    runc: join(runDir, 'runc'),
    state: (id) => join(runDir, 'runc', id),
    sockets,
    socket: (id) => join(sockets, `${id}.sock`),
    stage: join(runDir, 'stage'),
  };
}

/** Returns the file of the volume that disks may lie in (`disk/disk-store.ts`), and where it is mounted. */
export function volumeOf(dataDir: string): { file: string; folder: string } {
  return { file: join(dataDir, `${VOLUME}.xfs`), folder: join(dataDir, VOLUME) };
}

/** Returns the folder of all that has to share a file system with the disks: the volume, or else the data directory. */
export function disksFolder(dataDir: string): string {
  const { file, folder } = volumeOf(dataDir);
  return existsSync(file) ? folder : dataDir;
}

/** Returns the data directory of the volume that the path lies in; null outside of one. */
export function dataDirAround(path: string): string | null {
  for (let folder = path; folder !== dirname(folder); folder = dirname(folder)) {
    const above = dirname(folder);
    if (basename(folder) === VOLUME && existsSync(volumeOf(above).file)) return above;
  }
  return null;
}

const VOLUME = 'disks';

/** File of a bundle with the name of the loop device of its machine's disk. */
export const LOOP_NOTE = 'loop';

/** Parses the generation from the name of a bundle's folder; null for other files. */
export function bundleGeneration(name: string): number | null {
  const match = /^g(\d{1,15})$/.exec(name);
  return match ? Number(match[1]) : null;
}

export async function makeFolders(layout: Layout, runDir: string): Promise<void> {
  // A machine's root, unknown to the host, passes through to the stage: it needs to traverse, no more.
  for (const folder of [runDir, layout.stage]) {
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o711);
  }
  for (const folder of [
    layout.sandboxes,
    layout.captures,
    layout.pool,
    layout.trash,
    layout.agents,
    layout.runc,
    layout.sockets,
  ]) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  }
}
