/**
 * Machines on this host: an implementation of the `Runtime` port. It keeps no essential state: every
 * method reads the host first, so that it can be called again after a crash at any point.
 *
 * Order of traces: the sandbox's folder comes first and goes last; in between, a bundle is written before anything
 * runs, and nothing touches a disk that the kernel has in use.
 */
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { OpenStreams } from '../../concurrency/closing.ts';
import type { Log, Runtime } from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import type { GpuKind } from '../../model/gpu-kind.ts';
import { limits } from '../../model/limits.ts';
import { createPlaces, type RemotePlace } from '../archives/places.ts';
import type { ArchiveEncryption } from '../archives/protection.ts';
import { useRunner } from '../programs/run-program.ts';
import { createSpawner } from '../programs/spawner.ts';
import { createArchives } from './disk/archives.ts';
import { createDiskGuard } from './disk/disk-guard.ts';
import { createDisks } from './disk/disks.ts';
import { createFlusher } from './disk/flusher.ts';
import { createLocalPlace } from './disk/local-place.ts';
import { createReadyLoopDevices } from './disk/loop-devices.ts';
import { createTrash } from './disk/trash.ts';
import type { Owners } from './fairness/owners.ts';
import { createProcessorGroups } from './fairness/processor-groups.ts';
import { createProcessorShares } from './fairness/processor-shares.ts';
import { createServiceGroup } from './fairness/service-group.ts';
import { createGpus, type Gpus } from './gpu/gpus.ts';
import { createInventory } from './gpu/inventory.ts';
import { createHelpers, type Helpers } from './host/helper.ts';
import { controllerHierarchy, parseHierarchies } from './host/hierarchies.ts';
import { createLayout, makeFolders } from './host/layout.ts';
import {
  allocatedBytes,
  freeDiskBytes,
  hostMemory,
  maxOpenFiles,
  memoryForMachines,
  prepareHostLimits,
} from './host/room.ts';
import { createWork } from './host/work.ts';
import { createHoldings } from './kernel-memory/holdings.ts';
import { createLockCensus } from './kernel-memory/locks.ts';
import { createKernelMemoryWatch } from './kernel-memory/watch.ts';
import { type Cgroups, createCgroups } from './machine/cgroups.ts';
import { createFreezer } from './machine/freezer.ts';
import { killedLast } from './machine/killed-last.ts';
import type { MachineRuntime } from './machine/machine-runtime.ts';
import { createMachines } from './machine/running.ts';
import { createSleep } from './machine/sleep.ts';
import { createStarter, installAgent } from './machine/start.ts';
import { createLifecycle } from './machine/start-stop.ts';
import { createUsage } from './machine/usage.ts';
import { authorityCertificate, authorityOf } from './network/egress/authority.ts';
import type { Slots } from './network/slots-port.ts';
import { createCaptures } from './storage/captures.ts';
import { createCopies, type SandboxCopies } from './storage/copies.ts';
import { createDiskCopies } from './storage/disk-copies.ts';
import { createStorage, createWhileStopped } from './storage/storage.ts';
import { createSurvey } from './survey.ts';

export interface OciRuntimeOptions {
  /** Six of [0-9a-z]; part of every host-wide name. */
  instanceId: string;
  dataDir: string;
  runDir: string;
  machineRuntime: MachineRuntime;
  launcherPath: string;
  agentPath: string;
  slots: Slots;
  owners: Owners;
  gpuKind: GpuKind;
  /** Folders of CDI specifications; later ones override earlier. */
  cdiFolders: string[];
  /** Returns the path of the unpacked image of this digest; it does not change while a sandbox is made from it. */
  rootfsPath: (imageDigest: string) => string;
  /** Key that signs archives. */
  installationKey: Buffer;
  /** Key that sandboxes' certificate authorities follow from: 32 bytes. */
  authorityKey: Buffer;
  encryption: ArchiveEncryption;
  /** Place of archives outside this host; closed with the runtime. */
  remoteArchives?: RemotePlace | null;
  log: Log;
}

export interface OciRuntime extends Runtime {
  /** Helpers for other parts of the service; they run inside this runtime's fence, once `init` has made it. */
  readonly helpers: Helpers;
  /** Copies of sandboxes for a backup. */
  readonly copies: SandboxCopies;
  /** Destroys every sandbox, and removes every trace of the instance outside its data directory. Requires `init`. */
  purge(): Promise<void>;
}

export function createOciRuntime(options: OciRuntimeOptions): OciRuntime {
  const { log, slots, owners, machineRuntime, rootfsPath } = options;
  const layout = createLayout(options.dataDir, options.runDir);
  const hierarchies = parseHierarchies(readFileSync('/proc/self/mountinfo', 'utf8'));
  const cgroups = createCgroups(options.instanceId, hierarchies);
  const spawner = createSpawner(options.launcherPath);
  const helpers = createHelpers(options.launcherPath, cgroups.fenceArguments);
  const machines = createMachines(layout, cgroups, options);
  const freezer = createFreezer(cgroups);
  const sleep = createSleep(freezer, layout);
  const disks = createDisks(layout, helpers, log);
  const loopDevices = createReadyLoopDevices({ helpers, launcherPath: options.launcherPath, log });
  const trash = createTrash({ folder: layout.trash, helpers, log });
  const { remoteArchives = null, installationKey, encryption } = options;
  const places = createPlaces(createLocalPlace(layout), remoteArchives);
  const archives = createArchives({ layout, helpers, places, installationKey, encryption, log });
  const gpus = gpusOf(options, (instanceId) => createCgroups(instanceId, hierarchies));
  const starter = createStarter({
    ...{ layout, cgroups, machines, disks, loopDevices, slots, gpus, machineRuntime, rootfsPath },
  });
  const usage = createUsage({
    ...{ layout, memory: cgroups.memory },
    groupPath: (id) => (machines.hasEnded(id) ? null : cgroups.path(id)),
    processor: controllerHierarchy(hierarchies, 'cpuacct'),
  });
  const work = createWork(log);
  const memory = () => hostMemory(cgroups.memory);
  const survey = createSurvey(layout, { machines, slots, gpus, memory });
  const processorGroups = createProcessorGroups(options.instanceId, hierarchies);
  const shares = createProcessorShares({
    groups: processorGroups,
    service: createServiceGroup(options.instanceId, hierarchies),
    owners,
    ids: machines.present,
    log,
  });
  const lifecycle = createLifecycle({
    layout,
    cgroups,
    machines,
    slots,
    gpus,
    starter,
    sleep,
    archives,
    trash,
    shares,
    owners,
    work,
    authorityOf: (id) => authorityOf(options.authorityKey, id),
  });

  const guard = createDiskGuard({
    freeBytes: () => freeDiskBytes(layout.sandboxes),
    ids: machines.present,
    heldBytes: (id) => allocatedBytes(layout.disk(id)),
    async setFrozen(id, frozen) {
      // All machines may follow each other.
      await nextTurn();
      await (frozen ? freezer.hold(id, 'disk') : freezer.release(id, 'disk'));
    },
    owners,
    log,
  });

  const flusher = createFlusher({ launcherPath: options.launcherPath, folder: layout.agents, log });

  const census = createLockCensus({ launcherPath: options.launcherPath, slots, log });
  const holdings = createHoldings(cgroups.processes, census);
  const kernelMemory = createKernelMemoryWatch({
    cgroups: {
      present: machines.present,
      async endPrograms(id) {
        await cgroups.endPrograms(id);
        await freezer.renew(id);
      },
    },
    ...{ holdings, owners, log },
    usedMs: processorGroups.usedMs,
    usedMsOfAll: processorGroups.usedMsOfAll,
    availableBytes: () => memory().availableBytes,
  });

  const diskCopies = createDiskCopies({ layout, cgroups, freezer, machines, helpers });
  const whileStopped = createWhileStopped({ machines, work });
  const captures = createCaptures({
    ...{ layout, copies: diskCopies, disks, archives, trash, work, whileStopped, helpers, log },
  });

  const channels = new OpenStreams();

  async function close({ keepsClaim = false } = {}): Promise<void> {
    channels.cut(new SandhavenError('unavailable', 'The service is stopping.'));
    await kernelMemory.close();
    await guard.close();
    await flusher.close();
    await shares.close();
    await work.close();
    await disks.close();
    await loopDevices.close();
    await trash.close();
    await slots.close({ keepsClaim });
    await machines.close();
    await cgroups.removeFence();
    useRunner(null);
    spawner.close();
    remoteArchives?.place.close();
  }

  return {
    ...lifecycle,
    ...createStorage({ whileStopped, disks, archives, work }),
    async openChannel(id) {
      guard.assertRunning(id);
      await sleep.wake(id);
      return channels.keep(sleep.opened(id, await lifecycle.openChannel(id)));
    },
    observe: survey.observe,
    inspect: survey.inspect,
    capacity: survey.capacity,
    capabilities: {
      ...{ archive: true, liveResize: true, diskGrowth: true, network: true, networkPolicies: true },
      secrets: true,
    },
    authority: (id) => authorityCertificate(options.authorityKey, id),
    usage: async (id) => usage(id),
    killedLast: (id) => killedLast(cgroups.path(id)),
    deviceEnvironment: gpus.environment,
    traffic: slots.traffic,
    sleep,
    assign(id, ownerId) {
      owners.assign(id, ownerId);
      slots.traffic.assigned(id);
    },
    pausedReason: guard.pausedReason,
    helpers,
    captures,
    copies: createCopies({ layout, disks: diskCopies, helpers, work, log }),

    async init() {
      // Comes first: all that follows could belong to another service.
      slots.claim();
      useRunner(spawner);
      await makeFolders(layout, options.runDir);
      const { totalBytes } = memory();
      const { processes } = await prepareHostLimits(totalBytes, log);
      await cgroups.prepare({ memoryBytes: memoryForMachines(totalBytes), processes });
      await machines.begin();
      const { socketAccounting, memory: hierarchy } = cgroups;
      starter.use({
        agentName: await installAgent(options.agentPath, layout.agents),
        host: {
          arch: process.arch,
          cgroupVersion: hierarchy.version,
          swapAccounting: cgroups.hasSwapAccounting(),
          socketAccounting,
          maxOpenFiles: await maxOpenFiles(),
        },
      });
      await gpus.init((await cgroups.ids()).filter((id) => !machines.hasEnded(id)));
      await slots.init(cgroups.fenceArguments());
      await disks.init();
      loopDevices.begin();
      trash.begin();
      await archives.init();
      await sleep.recover(await machines.present());
      await guard.begin();
      flusher.begin();
      await shares.begin();
      kernelMemory.begin(totalBytes / limits.kernel.uncountedDivisor);
    },

    close: () => close(),

    async purge() {
      const onWait = (left: string) => log.info('waiting for the end of what was killed', { left });
      for (const id of await cgroups.ids()) await cgroups.destroy(id, { onWait });
      for (const id of await survey.ids()) await lifecycle.destroy(id);
      await close({ keepsClaim: true });
      gpus.purge();
      await slots.purge();
      await cgroups.purge();
      await rm(options.runDir, { recursive: true, force: true });
    },
  };
}

function gpusOf(options: OciRuntimeOptions, cgroupsOf: (instanceId: string) => Cgroups): Gpus {
  const { instanceId, runDir, dataDir } = options;
  return createGpus({
    instance: { id: instanceId, runDir, dataDir },
    log: options.log,
    inventory: createInventory(options.cdiFolders, options.gpuKind),
    hasProcesses: async (instance, sandboxId) => (await cgroupsOf(instance).processes(sandboxId)).length > 0,
  });
}
