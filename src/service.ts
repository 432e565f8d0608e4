/**
 * The running service: opens what it owns in order, makes store and machine agree, serves, and closes in the
 * opposite order. With main.ts this is the only place that knows the concrete parts.
 */
import { AccessService } from './control/access.ts';
import { Activity } from './control/activity.ts';
import { AuditService } from './control/audit/audit.ts';
import { PreviewGrants } from './control/audit/preview-grants.ts';
import { BASE_IMAGE } from './control/base-image.ts';
import { Creation } from './control/creation.ts';
import { within } from './control/deadline.ts';
import { DocumentService } from './control/documents/documents.ts';
import { type OrderMode, OrderOfUse } from './control/documents/order-of-use.ts';
import { Environments } from './control/environment.ts';
import { ExecutionService } from './control/execution.ts';
import { FileService } from './control/files.ts';
import { Idempotency } from './control/idempotency.ts';
import { ImageCollector } from './control/image-collector.ts';
import { Machines } from './control/machines.ts';
import { createPeople, enrolFirstUser } from './control/people.ts';
import { WarmPool } from './control/pool.ts';
import type { Clock, CodeHost, DocumentDatabase, Log, Store } from './control/ports.ts';
import { PreviewAccess } from './control/preview-access.ts';
import { PreviewService } from './control/previews.ts';
import { OperationQueue } from './control/queue.ts';
import { reconcile } from './control/reconciler.ts';
import { RegistryService } from './control/registries.ts';
import { SandboxService } from './control/sandboxes.ts';
import { Scheduler } from './control/scheduler.ts';
import type { Services } from './control/services.ts';
import { SessionService } from './control/sessions.ts';
import { SnapshotWork } from './control/snapshot-work.ts';
import { SnapshotService } from './control/snapshots.ts';
import { SshAccessService } from './control/ssh-access.ts';
import { SshVisits } from './control/ssh-visits.ts';
import { TunnelService } from './control/tunnels.ts';
import { Uses } from './control/use.ts';
import { Watches } from './control/watches.ts';
import { type Engine, openEngine } from './engine.ts';
import type { AllowedRemote } from './model/allowed-remotes.ts';
import type { GpuKind } from './model/gpu-kind.ts';
import { limits } from './model/limits.ts';
import type { ProviderOptions } from './model/provider-options.ts';
import { type Quota, unlimited } from './model/quota.ts';
import type { Rate } from './model/rate.ts';
import { localRegion, type Regions } from './model/region.ts';
import { everyRegistry, type RegistryRules } from './model/registry-rules.ts';
import { openCodeHost, openDocuments } from './optional-parts.ts';
import { auditCheckpointFile } from './store/audit-checkpoint.ts';
import { type DataDirectory, openDataDirectory, readOrCreateApiKey } from './store/data-directory.ts';
import { lockDataDirectory } from './store/lock.ts';
import { openSecrets } from './store/secrets.ts';
import { openSqliteStore } from './store/sqlite.ts';
import { type HostKey, readOrCreateHostKey } from './store/ssh-host-key.ts';
import { wireGit } from './wire-git.ts';

export interface ServiceOptions {
  dataDir: string;
  warmPool: number;
  /** How long an image stays that nothing uses. */
  imageKeptMinutes: number;
  /** How long rows of the audit log stay; 0 for good. */
  auditKeptDays: number;
  /** The first user's key, when the operator chose it. */
  apiKey: string | undefined;
  /** What counts as a GPU; by default NVIDIA's whole devices. */
  gpuKind?: GpuKind;
  /** What Git remotes with credentials may be besides public; by default this host alone. */
  gitAllow?: AllowedRemote[];
  /** The code-hosting provider; none when absent. */
  provider?: ProviderOptions | null;
  /** Where images are fetched from; `everyRegistry` by default. */
  registryRules?: RegistryRules;
  /** What a user may have unless an admin says otherwise; without limits when absent. */
  quota?: Quota;
  /** How often a key may call; without a limit when absent. */
  rate?: Rate | null;
  /** Where this is; by default nowhere in particular. */
  regions?: Regions;
  /** The document database; none when absent. */
  documentDb?: { connectionString: string | null; orderOfUse: OrderMode };
  clock: Clock;
  log: Log;
}

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
  /** Machines go on; what was begun is finished first, within a bound. */
  close(): Promise<void>;
}

const SCHEDULER_INTERVAL_MS = 5_000;
const DRAIN_TIMEOUT_MS = 30_000;
const DAY_MS = 24 * 60 * 60 * 1000;

export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { clock, log } = options;
  const data = openDataDirectory(options.dataDir);
  const lock = lockDataDirectory(data.path);
  const secrets = openSecrets({ keyFile: data.secretKeyFile });
  const store = await openSqliteStore({ file: data.databaseFile, secrets });
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
  const host = await openCodeHost(options.provider ?? null, clock);
  const audit = new AuditService({
    store: store.audit,
    checkpoint: auditCheckpointFile(data.auditCheckpointFile),
    key: secrets.deriveKey('audit chain'),
    keptMs: options.auditKeptDays * DAY_MS,
    ...{ clock, log },
  });
  const control = wire({ store, engine, access, documents, host, audit }, options);
  await engine.init();
  await audit.open();
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
    async close() {
      await control.close();
      await engine.runtime.close();
      await audit.close();
      await store.close();
      lock.release();
    },
  };
}

interface Parts {
  store: Store;
  engine: Engine;
  access: AccessService;
  documents: DocumentDatabase | null;
  host: CodeHost | null;
  audit: AuditService;
}

function wire(
  { store, engine, access, documents, host, audit }: Parts,
  {
    clock,
    log,
    warmPool,
    imageKeptMinutes,
    gitAllow = [],
    registryRules = everyRegistry,
    quota = unlimited,
    rate = null,
    regions = [localRegion],
    documentDb,
  }: ServiceOptions,
) {
  const { runtime, images, agent } = engine;
  const { sandboxes, snapshots } = store;
  const people = createPeople({ store, clock, quota, rate, regions });
  const { identity, quotas, standing } = people;
  const queue = new OperationQueue();
  const activity = new Activity(clock, sandboxes);
  const watches = new Watches(agent, runtime, log);
  const machines = new Machines({
    store: sandboxes,
    runtime,
    images,
    agent,
    queue,
    quotas,
    activity,
    watches,
    clock,
    log,
  });
  const regionId = identity.home.id;
  const pool = new WarmPool({
    ...{ store: sandboxes, runtime, images, machines, regionId, clock, log },
    size: warmPool,
  });
  const onClaim = () => pool.refill();
  const creation = new Creation({
    store: sandboxes,
    snapshots,
    runtime,
    images,
    machines,
    quotas,
    regionId,
    clock,
    onClaim,
  });
  const idempotency = new Idempotency(store.idempotency, clock);
  const uses = new Uses(sandboxes, queue, activity, standing);
  const scheduler = new Scheduler({
    store: sandboxes,
    machines,
    agent,
    activity,
    clock,
    log,
    intervalMs: SCHEDULER_INTERVAL_MS,
  });
  const collector = new ImageCollector({
    store: snapshots,
    images,
    runtime,
    clock,
    log,
    keptMs: imageKeptMinutes * 60_000,
    intervalMs: limits.image.collectIntervalMs,
  });
  const work = new SnapshotWork({ store: snapshots, images, clock, log });
  const files = new FileService(uses, agent);
  const environments = new Environments(images, runtime);
  const services: Services = {
    ...wireGit({ host, store, uses, agent, environments, allowed: gitAllow, clock, log }),
    sandboxes: new SandboxService(sandboxes, creation, machines, activity, idempotency),
    snapshots: new SnapshotService({ store: snapshots, images, work, identity, idempotency, quotas, clock }),
    files,
    execution: new ExecutionService(uses, agent, environments),
    sessions: new SessionService(uses, agent, environments),
    sshAccess: new SshAccessService(sandboxes, access, clock),
    previews: new PreviewService({ store: sandboxes, uses, agent, access, clock }),
    tunnels: new TunnelService({ store: sandboxes, uses, agent }),
    identity,
    registries: new RegistryService({ store: store.registryCredentials, rules: registryRules, clock }),
    users: people.users,
    keys: people.keys,
    documents: new DocumentService({
      database: documents,
      files,
      order: new OrderOfUse(documentDb?.orderOfUse ?? 'enforce'),
    }),
    audit,
  };
  return {
    services,
    sshVisits: new SshVisits({ tokens: access, uses, agent, runtime, environments, audit, clock, log }),
    scheduler,
    previewAccess: new PreviewAccess({ access, uses, agent, grants: new PreviewGrants(audit, clock), clock }),
    collector,
    pool,
    async reconcile() {
      // Unpacked now, so that the first sandbox does not wait for it.
      const base = await images.ensure(BASE_IMAGE).catch((error: unknown) => {
        log.warn('the base image is not there', { error });
        return null;
      });
      const keepsInPool = (sandbox: { imageDigest: string }) =>
        warmPool > 0 && sandbox.imageDigest === base?.digest;
      await reconcile({ store: sandboxes, runtime, machines, log, keepsInPool });
      await work.resume();
      await store.idempotency.prune(clock.now() - limits.idempotencyKeptMs);
      await store.accessTokens.prune(clock.now());
    },
    async close() {
      await services.documents.close();
      await scheduler.close();
      await collector.close();
      await work.close();
      await pool.close();
      await within(
        DRAIN_TIMEOUT_MS,
        queue.drained(),
        'Operations were still running when the service was stopped.',
      );
      watches.endAll();
      await activity.flush();
      await people.close();
    },
  };
}
