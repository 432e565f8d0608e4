/**
 * The running service: opens its parts in order, reconciles store and machines, serves, and closes in reverse order.
 * test/tidy.test.ts lists the files that know concrete parts.
 */

import { inBackground, type Tracer } from '../concurrency/span.ts';
import type { PreviewAccess } from '../control/access/preview-access.ts';
import type { SshVisits } from '../control/access/ssh-visits.ts';
import { AccessService } from '../control/access/tokens.ts';
import { AuditService } from '../control/audit/audit.ts';
import type { Readiness } from '../control/lifecycle/readiness.ts';
import type { Scheduler } from '../control/lifecycle/scheduler.ts';
import { enrolFirstUser } from '../control/people/people.ts';
import type { DocumentDatabase } from '../control/ports/index.ts';
import type { Services } from '../control/services.ts';
import { onThisHost } from '../model/archive-options.ts';
import { quotaOfMembers } from '../model/quota.ts';
import { everyRegistry } from '../model/registries.ts';
import { createExit, type Exit } from '../outbound/exit.ts';
import { folderOnMachine } from '../runtime/archives/s3/own-folder.ts';
import {
  type DataDirectory,
  lockDataDirectory,
  openDataDirectory,
  readOrCreateApiKey,
} from '../store/data-directory.ts';
import { openSecrets } from '../store/files/secrets.ts';
import { type HostKey, openHostKey } from '../store/files/ssh-host-key.ts';
import { openStore } from '../store/open-store.ts';
import { auditCheckpointFile, trafficNotes } from '../store/record-files.ts';
import { type Engine, isOnHost, openEngine } from './engine/engine.ts';
import {
  openCodeHost,
  openDocuments,
  openRemoteArchives,
  openSignInProvider,
  openTracing,
} from './engine/optional-parts.ts';
import { serveBackups } from './parts/backup/backup-socket.ts';
import type { ServiceOptions } from './service-options.ts';
import { wire } from './wiring.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

export interface RunningService {
  services: Services;
  data: DataDirectory;
  /** The first user's key. */
  apiKey: string;
  /** File that holds it; null when the operator gave it by environment. */
  apiKeyFile: string | null;
  scheduler: Scheduler;
  /** Dependencies of the SSH gateway. */
  ssh: { visits: SshVisits; hostKey: HostKey };
  previewAccess: PreviewAccess;
  /** For documents of OAuth clients. */
  exit: Exit;
  readiness: Readiness;
  /** null without a document database. */
  documents: DocumentDatabase | null;
  /** null without traces. */
  tracer: Tracer | null;
  /** true: other replicas serve beside this one. */
  shared: boolean;
  /** Finishes open work first, within a bound. Machines keep running. */
  close(): Promise<void>;
  /** As `close`, after a failed start: also deletes the sandboxes of the warm pool, unless other replicas have them too. */
  abandon(): Promise<void>;
}

/** Starts the service; closes everything opened so far when the start fails. */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const opened = new AsyncDisposableStack();
  try {
    return await open(options, opened);
  } catch (error) {
    await opened.disposeAsync().catch((late: unknown) => {
      options.log.warn('cannot close everything after the failed start', { error: late });
    });
    throw error;
  }
}

/** @param opened Collects the closers of opened parts, in the order of opening. */
async function open(options: ServiceOptions, opened: AsyncDisposableStack): Promise<RunningService> {
  const { clock, log } = options;
  const data = openDataDirectory(options.dataDir);
  const lock = lockDataDirectory(data.path);
  opened.defer(() => lock.release());
  const traces = await openTracing(options.tracing ?? null, log);
  opened.defer(() => traces?.close());
  const tracer = traces?.tracer ?? null;
  const secrets = openSecrets({ keyFile: data.secretKeyFile });
  const { kubernetes = null } = options;
  const shared = kubernetes !== null;
  const store = await openStore({ data, address: options.store ?? null, secrets, shared, log });
  opened.defer(() => store.close());
  const apiKey = options.apiKey ?? readOrCreateApiKey(data.apiKeyFile);
  await enrolFirstUser(store, clock, apiKey);
  const hostKey = await openHostKey(store.serviceSecrets, data.sshHostKeyFile, log);
  const { gpuKind, machineRuntime, diskStore, registryRules: rules = everyRegistry } = options;
  const registries = { rules, credentials: store.registryCredentials };
  const exit = createExit();
  const engine = await chooseEngine();
  async function chooseEngine(): Promise<Engine> {
    const { archives = onThisHost } = options;
    if (kubernetes) {
      const { openKubernetes } = await import('./engine/kubernetes.ts');
      return openKubernetes({ options: kubernetes, archives, secrets, store, registries, exit, clock, log });
    }
    const remotePlace = await openRemoteArchives(archives, folderOnMachine(data.instance), log);
    const { encrypted } = archives;
    return openEngine({
      ...{ data, secrets, registries, machineRuntime, gpuKind, remotePlace, encrypted, exit, clock, log },
      ...{ diskStore, traffic: options.traffic?.each },
    });
  }
  const access = new AccessService({
    tokens: store.accessTokens,
    clock,
    previewKey: secrets.deriveKey('preview token'),
    replicas: store.replicas,
  });
  const documents = await openDocuments(options.documentDb?.connectionString ?? null);
  const audit = new AuditService({
    ...{ store: store.audit, replicas: store.replicas, clock, log },
    checkpoint: auditCheckpointFile(data.auditCheckpointFile),
    key: secrets.deriveKey('audit chain'),
    keptMs: options.auditKeptDays * DAY_MS,
  });
  const host = await openCodeHost(options.provider ?? null, clock);
  const memberQuota = quotaOfMembers(await engine.size());
  const challengeKey = secrets.deriveKey('passkey challenge');
  const signInProvider = await openSignInProvider(options.identity ?? null, secrets, clock, log);
  const own = { store, engine, access, documents, host, audit, exit, memberQuota };
  const parts = { ...own, challengeKey, signInProvider, trafficNotes: trafficNotes(data.trafficFile) };
  const control = wire(parts, options);
  // After the engine, whose end is the end of calls that wait for a machine.
  opened.defer(() => audit.close());
  opened.defer(() => engine.runtime.close());
  await engine.init();
  await audit.open();
  opened.defer(() => control.close());
  if (isOnHost(engine)) opened.defer(await serveBackups({ data, secrets, ...engine, log }, audit));
  await inBackground(tracer, async () => {
    await control.reconcile();
    control.traffic?.begin();
    control.scheduler.begin();
    control.services.health.begin();
    control.collector.begin();
    control.archiveCollector?.begin();
    control.deliverer.begin();
    control.pool.refill(0);
  });
  return {
    services: control.services,
    data,
    apiKey,
    apiKeyFile: options.apiKey === undefined ? data.apiKeyFile : null,
    scheduler: control.scheduler,
    ssh: { visits: control.sshVisits, hostKey },
    previewAccess: control.previewAccess,
    exit,
    readiness: control.readiness,
    documents,
    tracer,
    shared: store.replicas.shared,
    close: () => opened.disposeAsync(),
    async abandon() {
      try {
        await control.discardPool();
      } finally {
        await opened.disposeAsync();
      }
    },
  };
}
