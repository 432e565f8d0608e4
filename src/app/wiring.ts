/** Wires the services and workers of one process; `startService` opens and closes their dependencies. */
import { closeInTime } from '../concurrency/closing.ts';
import { within } from '../concurrency/deadline.ts';
import { Unfinished } from '../concurrency/unfinished.ts';
import { SshVisits } from '../control/access/ssh-visits.ts';
import { AwayMachines } from '../control/base/away-machines.ts';
import { BASE_IMAGE } from '../control/base/base-image.ts';
import { announcedRows, heldRows } from '../control/base/sandbox-rows.ts';
import { LastTurn } from '../control/base/tallies.ts';
import { createCredentials } from '../control/credentials/credentials.ts';
import { DocumentService } from '../control/documents/documents.ts';
import { OrderOfUse } from '../control/documents/order-of-use.ts';
import { RegistryService } from '../control/images/registries.ts';
import { ArchiveCollector } from '../control/lifecycle/archives.ts';
import { DiskPromises } from '../control/lifecycle/capacity.ts';
import { Creation } from '../control/lifecycle/creation.ts';
import { LostNodes } from '../control/lifecycle/lost-nodes.ts';
import { Machines } from '../control/lifecycle/machines.ts';
import { Readiness } from '../control/lifecycle/readiness.ts';
import { reconcile } from '../control/lifecycle/reconciler.ts';
import { SandboxService } from '../control/lifecycle/sandboxes.ts';
import { Watches } from '../control/lifecycle/watches.ts';
import { SandboxEvents } from '../control/live/sandbox-events.ts';
import { Metrics } from '../control/metrics.ts';
import { EverybodysSandboxes } from '../control/people/everybodys-sandboxes.ts';
import { createPeople } from '../control/people/people.ts';
import { createUserDeletions } from '../control/people/user-deletions.ts';
import { WarmPool } from '../control/pool/pool.ts';
import { stillUsable } from '../control/pool/pool-sandbox.ts';
import { Environments } from '../control/reach/environment.ts';
import type { Services } from '../control/services.ts';
import { Activity } from '../control/turns/activity.ts';
import { Idempotency } from '../control/turns/idempotency.ts';
import { createOperationQueue } from '../control/turns/operation-queue.ts';
import { OtherReplicas } from '../control/turns/other-replicas.ts';
import { ContextService } from '../control/work/contexts.ts';
import { ExecutionService } from '../control/work/execution.ts';
import { filesOf } from '../control/work/files.ts';
import { KeptSessions } from '../control/work/kept-sessions.ts';
import { ProcessService } from '../control/work/processes.ts';
import { SessionService } from '../control/work/sessions.ts';
import { TerminalService, TunnelService } from '../control/work/terminals.ts';
import { SandhavenError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { openNetwork } from '../model/network/setting.ts';
import { usualTraffic } from '../model/network/traffic.ts';
import { localRegion } from '../model/region.ts';
import { everyRegistry } from '../model/registries.ts';
import type { Sandbox } from '../model/sandbox.ts';
import { createExit } from '../outbound/exit.ts';
import type { Dependencies } from './parts/dependencies.ts';
import { passkeyVerifierOnUse } from './parts/loaded-on-use.ts';
import { pruneOldRows } from './parts/prune.ts';
import { wireAccess } from './parts/wire-access.ts';
import { wireGit, wireProvider } from './parts/wire-git.ts';
import { wireLive, wireUses, wireWebhooks } from './parts/wire-live.ts';
import { wireNetworks, wireTraffic } from './parts/wire-networks.ts';
import { wireReplicas } from './parts/wire-replicas.ts';
import { wireSnapshots } from './parts/wire-snapshots.ts';
import type { ServiceOptions } from './service-options.ts';

const DRAIN_TIMEOUT_MS = 30_000;

export function wire(
  {
    store,
    engine,
    access,
    documents,
    host,
    audit,
    exit = createExit(),
    memberQuota,
    challengeKey,
    signInProvider = null,
    trafficNotes: notes = null,
  }: Dependencies,
  {
    clock,
    log,
    warmPool,
    kubernetes = null,
    imageKeptMinutes,
    sleepAfterSeconds = 0,
    gitAllow = [],
    webhookAllow = [],
    registryRules = everyRegistry,
    quota = {},
    diskOvercommit = limits.disk.overcommit.default,
    rate = null,
    regions = [localRegion],
    passwordSignIn = false,
    adminsReadInside = false,
    publicPorts = false,
    defaultNetwork: usual = openNetwork,
    mostNetwork: most = openNetwork,
    traffic: limitsOfTraffic = usualTraffic,
    documentDb,
    dataDir,
  }: ServiceOptions,
) {
  const { images, agent } = engine;
  const unfinished = new Unfinished((work, error) =>
    log.error('work failed, and is repeated', { work, error }),
  );
  const readiness = new Readiness({ ...engine, replicas: store.replicas, unfinished, clock, log });
  const runtime = readiness.watch(engine.runtime);
  const { snapshots, replicas, everybody } = store;
  const seen = (row: Sandbox) => services.sandboxes.seen(row);
  const events = new SandboxEvents({ store: store.sandboxes, log, seen });
  const wrote = (id: string) => events.wrote(id);
  replicas.onWritten(wrote);
  replicas.onGap(() => events.missed());
  const rows = replicas.shared ? store.sandboxes : announcedRows(store.sandboxes, wrote);
  const sandboxes = heldRows(rows, replicas);
  const others = new OtherReplicas(replicas, sandboxes);
  const counted = wireTraffic({
    ...{ traffic: runtime.traffic, notes, options: limitsOfTraffic, changed: wrote, clock, log },
  });
  const people = createPeople({
    ...{ store, access, clock, trafficOf: counted.ofOwner },
    quota: { everybody: quota, members: memberQuota },
    ...{ rate, regions, signInProvider, adminsReadInside },
  });
  const { quotas, callerRights, close: closePeople, ...accounts } = people;
  const traffic = counted.watch(quotas);
  const queue = createOperationQueue();
  const activity = new Activity(clock, sandboxes, replicas.shared);
  const watches = new Watches(agent, runtime, log);
  const disks = new DiskPromises({ store: sandboxes, runtime, overcommit: diskOvercommit });
  const away = new AwayMachines();
  const nodeLoss = kubernetes?.nodeLoss ?? null;
  const provider = wireProvider({ host, store, uses: () => network.renewals, clock, log });
  const network = wireNetworks({
    ...{ store, sandboxes, runtime, agent, installation: { usual, most }, unfinished, clock, log },
    machines: { change: (...given) => machines.change(...given) },
    ...{ reports: engine.networkEvents, traffic, provider, callerRights },
  });
  const { networks, secretUses, trust } = network;
  const machines: Machines = new Machines({
    ...{ store: sandboxes, runtime, images, agent, queue, quotas, disks, activity, watches, replicas },
    ...{ networks, secrets: secretUses, trust, others, away, nodeLoss, unfinished, clock, log },
    sessions: new KeptSessions(store.sessions, agent, log),
  });
  const lostNodes =
    nodeLoss && new LostNodes({ nodeLoss, away, store: sandboxes, runtime, machines, replicas, log });
  const { identity } = accounts;
  const regionId = identity.home.id;
  const pool = new WarmPool({
    ...{ store: sandboxes, runtime, images, machines, networks, replicas, regionId, clock, log },
    bounds: warmPool,
    atOnce: limits.warmPool.madeAtOnce[kubernetes ? 'cluster' : 'host'],
  });
  const creation = new Creation({
    ...{ store: sandboxes, snapshots, runtime, images, machines, networks, quotas, disks, regionId, clock },
    secrets: network.services.sandboxSecrets,
    onWanted: () => pool.wanted(),
  });
  const idempotency = new Idempotency(store.idempotency, clock, replicas);
  const { uses, sleep, scheduler } = wireUses({
    ...{ store: sandboxes, runtime, machines, agent, queue, activity, callerRights, others, replicas },
    ...{ unfinished, sleepAfterSeconds, changed: wrote, clock, log },
  });
  const environments = new Environments({ images, runtime, secrets: secretUses });
  const copies = wireSnapshots({
    ...{ store: snapshots, images, runtime, networks, identity, idempotency, quotas, replicas, unfinished },
    ...{ sandboxes, machines, creation, clock, log, keptMinutes: imageKeptMinutes },
    ...{ steps: store.buildSteps, uses, agent, environments, dataDir },
  });
  const { remoteArchives } = engine;
  const archiveCollector =
    remoteArchives && new ArchiveCollector({ store: sandboxes, archives: remoteArchives, replicas, log });
  const replicaWork = wireReplicas({
    ...{ store: sandboxes, runtime, machines, watches, pool, snapshots: copies.work },
    ...{ replicas, others, unfinished, open: [callerRights, access], log },
  });
  const files = filesOf(uses, agent);
  const reached = wireAccess({ access, sandboxes, uses, agent, callerRights, audit, clock, publicPorts });
  const live = wireLive({
    ...{ sandboxes, everybody, pool: warmPool, events, runtime, agent },
    ...{ audit, users: people.users, clock, log },
    isCluster: kubernetes !== null,
  });
  const sshVisits = new SshVisits({ tokens: access, uses, agent, runtime, environments, audit, clock, log });
  const git = wireGit({ provider, store, uses, agent, environments, allowed: gitAllow, exit });
  const reconciler = new LastTurn();
  const metrics = new Metrics(
    {
      ...{ store, runtime, audit, creation, pool, queue, scheduler, identity, replicas, traffic },
      health: live.health,
      reconciled: () => replicaWork.compared ?? reconciler.last,
    },
    { ...reached.loads, ssh: sshVisits.load, git: git.git.load },
  );
  const { deliverer, webhooks } = wireWebhooks({ store, allowed: webhookAllow, exit, clock, log });
  const services: Services = {
    metrics,
    sandboxes: new SandboxService({
      ...{ store: sandboxes, creation, machines, activity, idempotency, runtime, traffic, clock },
    }),
    ...{ sleep, events },
    ...live,
    ...copies.services,
    files,
    execution: new ExecutionService(uses, agent, environments),
    sessions: new SessionService(uses, agent, environments, store.sessions),
    contexts: new ContextService({ uses, agent, environments }),
    processes: new ProcessService({ uses, agent, environments }),
    ...reached.services,
    tunnels: new TunnelService({ store: sandboxes, uses, agent }),
    terminals: new TerminalService({ store: sandboxes, uses, agent, environments }),
    ...git,
    ...accounts,
    registries: new RegistryService({ store: store.registryCredentials, rules: registryRules, clock }),
    everybody: new EverybodysSandboxes({ ...store, sandboxes, users: people.users, machines }),
    ...createCredentials({
      ...{ store, people, challengeKey, clock, takesPasswords: passwordSignIn },
      verifier: passkeyVerifierOnUse(),
    }),
    documents: new DocumentService({
      ...{ database: documents, files },
      order: new OrderOfUse(documentDb?.orderOfUse ?? 'enforce', replicas),
    }),
    ...network.services,
    ...{ audit, webhooks },
    userDeletions: createUserDeletions({
      ...{ store, quotas, machines, access, audit },
      ...{ users: people.users, snapshots: copies.services.snapshots },
      ...{ replicas, unfinished, authorizations: provider?.authorizations ?? null },
      ...{ learning: network.services.learning, adminsReadInside },
    }),
  };
  return {
    services,
    sshVisits,
    scheduler,
    previewAccess: reached.previewAccess,
    collector: copies.collector,
    archiveCollector,
    ...{ deliverer, pool, readiness, traffic },
    async reconcile() {
      // Unpacked now, so that the first sandbox does not wait.
      const base = await images.ensure(BASE_IMAGE).catch((error: unknown) => {
        log.warn('the base image is missing', { error });
        return null;
      });
      const keepsInPool = stillUsable(warmPool, base?.digest ?? null, networks.usual);
      if (replicas.shared) replicaWork.begin(keepsInPool);
      else {
        const parts = { store: sandboxes, runtime, machines, unfinished, log, keepsInPool };
        await reconciler.measure(() => reconcile(parts));
      }
      lostNodes?.begin();
      // A measurement of a Pod is a request, by its agent or of the cluster.
      if (kubernetes === null) live.usageHistory.begin();
      network.renewals?.begin();
      await copies.work.resume();
      await services.userDeletions.resume();
      await pruneOldRows({ store, people, clock, log });
    },
    async close() {
      others.close();
      live.health.close();
      live.healthEvents.close();
      services.learning.close();
      const watching = [readiness, scheduler, replicaWork, lostNodes, copies.collector, traffic];
      const parts = [services.documents, services.detachedBuilds, deliverer, network.renewals, ...watching];
      await closeInTime({
        parts: [...parts, archiveCollector, copies.work, pool].map((part) => () => part?.close()),
        drained: () => queue.drained(),
        last: [
          () => machines.leave(),
          () => watches.endAll(),
          () => activity.flush(),
          () => network.secretActivity.flush(),
          () => live.auditEvents.close(),
          () => live.usage.close(),
          () => live.usageHistory.close(),
          () => events.close(),
          () => closePeople(),
        ],
        timeoutMs: DRAIN_TIMEOUT_MS,
        late: stoppedTooEarly,
      });
    },
    /** Deletes the sandboxes of the warm pool, which nobody uses yet, unless other replicas have them too. */
    discardPool: () => within(DRAIN_TIMEOUT_MS, pool.discard(), stoppedTooEarly),
  };
}

function stoppedTooEarly(): never {
  throw new SandhavenError('timeout', 'Operations were still running when the service was stopped.');
}
