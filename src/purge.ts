/** `sandhaven purge`: takes a data directory's sandboxes, and every trace of them, off this machine. */
import type { Clock, Log } from './control/ports.ts';
import { openEngine } from './engine.ts';
import { openDataDirectory } from './store/data-directory.ts';
import { lockDataDirectory } from './store/lock.ts';
import { openSecrets } from './store/secrets.ts';
import { openSqliteStore } from './store/sqlite.ts';

/** The directory itself stays. */
export async function purge(options: { dataDir: string; clock: Clock; log: Log }): Promise<void> {
  const { clock, log } = options;
  const data = openDataDirectory(options.dataDir);
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
