/** `sandhaven purge`: deletes every trace of a data directory's sandboxes, or of orphaned ones, on this host. */

import type { Clock, Log } from '../control/ports/index.ts';
import type { ArchiveOptions } from '../model/archive-options.ts';
import { presentStore } from '../model/disk-store.ts';
import type { StoreAddress } from '../model/store-address.ts';
import { createExit } from '../outbound/exit.ts';
import { folderOnMachine } from '../runtime/archives/s3/own-folder.ts';
import { openDiskStore, removeDiskStore } from '../runtime/oci/disk/disk-store.ts';
import { findOrphans, type Orphan, removeOrphan } from '../runtime/oci/orphans.ts';
import { lockDataDirectory, openExistingDataDirectory } from '../store/data-directory.ts';
import { openSecrets } from '../store/files/secrets.ts';
import { openStore } from '../store/open-store.ts';
import { launcher, openEngine } from './engine/engine.ts';
import { openRemoteArchives } from './engine/optional-parts.ts';

/** Finds leftovers of instances without a data directory; removes them with `remove`. @returns the orphans found */
export async function purgeOrphans({ remove, log }: { remove: boolean; log: Log }): Promise<Orphan[]> {
  const orphans = await findOrphans();
  if (remove) for (const orphan of orphans) await removeOrphan(orphan, launcher(), log);
  return orphans;
}

export interface PurgeOptions {
  dataDir: string;
  /** The PostgreSQL database of the service; null for SQLite in the data directory. */
  store: StoreAddress | null;
  archives: ArchiveOptions;
  clock: Clock;
  log: Log;
}

/**
 * Deletes every sandbox of a data directory, with its archive; keeps the directory. Rejects a missing directory with
 * `failed_precondition`.
 */
export async function purge(options: PurgeOptions): Promise<void> {
  const { clock, log } = options;
  const data = openExistingDataDirectory(options.dataDir);
  const lock = lockDataDirectory(data.path);
  try {
    await openDiskStore(data.path, launcher(), presentStore).catch(async (error: unknown) => {
      log.warn('the volume of disks cannot be used, and is removed as it is', { error });
      await removeDiskStore(data.path, log);
    });
    const secrets = openSecrets({ keyFile: data.secretKeyFile });
    // Nothing new is written: a bucket that is away keeps nobody from purging.
    const archives = { ...options.archives, folder: null };
    const remotePlace = await openRemoteArchives(archives, folderOnMachine(data.instance), log);
    const engine = await openEngine({ data, secrets, exit: createExit(), remotePlace, clock, log });
    try {
      await engine.init();
      await engine.runtime.purge();
      await removeDiskStore(data.path, log);
    } catch (error) {
      // What it has opened would keep the process running.
      await engine.runtime
        .close()
        .catch((cause: unknown) => log.warn('the engine did not close', { error: cause }));
      throw error;
    }
    const store = await openStore({ data, address: options.store, secrets, log });
    for (const { id, generation } of await store.sandboxes.all())
      await store.sandboxes.remove(id, generation);
    await store.close();
  } finally {
    lock.release();
  }
}
