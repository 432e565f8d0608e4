/**
 * The running service: opens what it owns in order, makes store and machine agree, serves, and closes in the
 * opposite order. What of it knows concrete parts is listed in test/tidy.test.ts.
 */

import type { PreviewAccess } from '../control/access/preview-access.ts';
import type { SshVisits } from '../control/access/ssh-visits.ts';
import { AccessService } from '../control/access/tokens.ts';
import type { Readiness } from '../control/lifecycle/readiness.ts';
import type { Scheduler } from '../control/lifecycle/scheduler.ts';
import { enrolFirstUser } from '../control/people/people.ts';
import type { Services } from '../control/services.ts';
import { quotaOfMembers } from '../model/quota.ts';
import { everyRegistry } from '../model/registry-rules.ts';
import { machineSize } from '../runtime/machine-size.ts';
import { type DataDirectory, openDataDirectory, readOrCreateApiKey } from '../store/data-directory.ts';
import { lockDataDirectory } from '../store/lock.ts';
import { openSecrets } from '../store/secrets.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';
import { type HostKey, readOrCreateHostKey } from '../store/ssh-host-key.ts';
import { auditLog } from './audit-log.ts';
import { openEngine } from './engine.ts';
import { openCodeHost, openDocuments } from './optional-parts.ts';
import type { ServiceOptions } from './service-options.ts';
import { wire } from './wiring.ts';

export interface RunningService {
  services: Services;
  data: DataDirectory;
  /** The first user's key. */
  apiKey: string;
  /** Where it can be read; null when the operator gave it by environment. */
  apiKeyFile: string | null;
  scheduler: Scheduler;
  /** What the SSH gateway stands on. */
  ssh: { visits: SshVisits; hostKey: HostKey };
  previewAccess: PreviewAccess;
  readiness: Readiness;
  /** Machines go on; what was begun is finished first, within a bound. */
  close(): Promise<void>;
  /** As `close`, for a start that failed: what waits in the warm pool, which nobody knows of yet, is deleted. */
  abandon(): Promise<void>;
}

/** When it fails, all that it had opened is closed again. */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const opened = new AsyncDisposableStack();
  try {
    return await open(options, opened);
  } catch (error) {
    await opened.disposeAsync().catch((late: unknown) => {
      options.log.warn('not everything could be closed after the start had failed', { error: late });
    });
    throw error;
  }
}

/** @param opened Gets whatever closes what is open already, in the order of opening. */
async function open(options: ServiceOptions, opened: AsyncDisposableStack): Promise<RunningService> {
  const { clock, log } = options;
  const data = openDataDirectory(options.dataDir);
  const lock = lockDataDirectory(data.path);
  opened.defer(() => lock.release());
  const secrets = openSecrets({ keyFile: data.secretKeyFile });
  const store = await openSqliteStore({ file: data.databaseFile, secrets, log });
  opened.defer(() => store.close());
  const apiKey = options.apiKey ?? readOrCreateApiKey(data.apiKeyFile);
  await enrolFirstUser(store, clock, apiKey);
  const { gpuKind, registryRules: rules = everyRegistry } = options;
  const registries = { rules, credentials: store.registryCredentials };
  const engine = openEngine({ data, secrets, registries, gpuKind, clock, log });
  const access = new AccessService({
    tokens: store.accessTokens,
    clock,
    previewKey: secrets.deriveKey('preview token'),
  });
  const documents = await openDocuments(options.documentDb?.connectionString ?? null);
  const audit = auditLog({ data, secrets, store, keptDays: options.auditKeptDays, clock, log });
  const host = await openCodeHost(options.provider ?? null, clock);
  const memberQuota = quotaOfMembers(await machineSize(data.path));
  const control = wire({ store, engine, access, documents, host, audit, memberQuota }, options);
  opened.defer(() => engine.runtime.close());
  await engine.init();
  await audit.open();
  opened.defer(() => audit.close());
  opened.defer(() => control.close());
  await control.reconcile();
  control.scheduler.begin();
  control.collector.begin();
  control.pool.refill(0);
  return {
    services: control.services,
    data,
    apiKey,
    apiKeyFile: options.apiKey === undefined ? data.apiKeyFile : null,
    scheduler: control.scheduler,
    ssh: { visits: control.sshVisits, hostKey: readOrCreateHostKey(data.sshHostKeyFile) },
    previewAccess: control.previewAccess,
    readiness: control.readiness,
    close: () => opened.disposeAsync(),
    async abandon() {
      try {
        await control.pool.discard();
      } finally {
        await opened.disposeAsync();
      }
    },
  };
}
