/**
 * Paths of the engine, all named after the sandbox, so that remains of a crash are found by looking. Data survives a
 * reboot; the run folder does not have to.
 */
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';

export interface Layout {
  /** One folder a sandbox. Invariant: it is the first trace of a sandbox to appear and the last to go. */
  sandboxes: string;
  sandbox(id: string): string;
  disk(id: string): string;
  archive(id: string): string;
  /** An OCI bundle for each generation; the newest is of the last start. */
  bundle(id: string, generation: number): string;
  /** Disks made ahead of need. */
  pool: string;
  /** Agent programs by digest. */
  agents: string;
  /** State that runc keeps, by sandbox. */
  runc: string;
  sockets: string;
  socket(id: string): string;
  /** Empty on the host; every launcher mounts its own machine here, in its own mount namespace. */
  stage: string;
}

export function createLayout(dataDir: string, runDir: string): Layout {
  const sandboxes = join(dataDir, 'sandboxes');
  const sockets = join(runDir, 's');
  return {
    sandboxes,
    sandbox: (id) => join(sandboxes, id),
    disk: (id) => join(sandboxes, id, 'disk.img'),
    archive: (id) => join(sandboxes, id, 'archive.tar.zst'),
    bundle: (id, generation) => join(sandboxes, id, `g${generation}`),
    pool: join(dataDir, 'pool'),
    agents: join(dataDir, 'agents'),
    runc: join(runDir, 'runc'),
    sockets,
    socket: (id) => join(sockets, `${id}.sock`),
    stage: join(runDir, 'stage'),
  };
}

/** In a bundle: the name of the loop device that its machine's disk is on. */
export const LOOP_NOTE = 'loop';

/** The name of a bundle's folder gives its generation; null for other files. */
export function bundleGeneration(name: string): number | null {
  const match = /^g(\d{1,15})$/.exec(name);
  return match ? Number(match[1]) : null;
}

export async function makeFolders(layout: Layout, runDir: string): Promise<void> {
  // Machines' root, whom the host does not know, passes through to the stage: it needs to traverse, no more.
  for (const folder of [runDir, layout.stage]) {
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o711);
  }
  for (const folder of [layout.sandboxes, layout.pool, layout.agents, layout.runc, layout.sockets]) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  }
}
