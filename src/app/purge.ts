/** `sandhaven purge`: takes sandboxes, and every trace of them, off this machine: a data directory's, or nobody's. */
import type { Clock, Log } from '../control/ports/index.ts';
import { findOrphans, type Orphan, removeOrphan } from '../runtime/oci/host/orphans.ts';
import { openExistingDataDirectory } from '../store/data-directory.ts';
import { lockDataDirectory } from '../store/lock.ts';
import { openSecrets } from '../store/secrets.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';
import { openEngine } from './engine.ts';

/** What instances left whose data directory is gone. @returns what was there; it is removed when `remove` says so. */
export async function purgeOrphans({ remove, log }: { remove: boolean; log: Log }): Promise<Orphan[]> {
  const orphans = await findOrphans();
  if (remove) for (const orphan of orphans) await removeOrphan(orphan, log);
  return orphans;
}

/** The directory itself stays. Fails with `failed_precondition`, and changes nothing, where there is none. */
export async function purge(options: { dataDir: string; clock: Clock; log: Log }): Promise<void> {
  const { clock, log } = options;
  const data = openExistingDataDirectory(options.dataDir);
  const lock = lockDataDirectory(data.path);
  try {
    const secrets = openSecrets({ keyFile: data.secretKeyFile });
    const engine = openEngine({ data, secrets, clock, log });
    await engine.init();
    await engine.runtime.purge();
    const store = await openSqliteStore({ file: data.databaseFile, secrets });
    for (const { id, generation } of await store.sandboxes.all())
      await store.sandboxes.remove(id, generation);
    await store.close();
  } finally {
    lock.release();
  }
}
