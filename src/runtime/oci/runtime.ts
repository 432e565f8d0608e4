/**
 * Machines on this host, made by runc: an implementation of the `Runtime` port. It remembers nothing that matters:
 * every method looks at the host first, so that it can be called again after a crash at any point.
 *
 * Order of traces: the sandbox's folder comes first and goes last; between, a bundle is written before anything
 * runs, and nothing touches a disk that the kernel has in use.
 */
import { readFileSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import type { Log, Observed, Runtime } from '../../control/ports.ts';
import { SandhavenError } from '../../model/errors.ts';
import { sandboxIdPattern } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { installAgent } from './agent-binary.ts';
import { createArchives } from './archives.ts';
import { createCgroups } from './cgroups.ts';
import { openSocket } from './channel.ts';
import { createDisks } from './disks.ts';
import { toCallerError } from './failures.ts';
import { unlessMissing } from './files.ts';
import { createHelpers, type Helpers } from './helper.ts';
import { parseHierarchies } from './hierarchies.ts';
import { freeDiskBytes, hostMemory, maxOpenFiles, memoryForMachines } from './host.ts';
import { createLayout, type Layout, makeFolders } from './layout.ts';
import { createMachines } from './machines.ts';
import type { Slots } from './slot.ts';
import { createStarter } from './start.ts';
import { createTurns } from './turns.ts';

export interface OciRuntimeOptions {
  /** Six of [0-9a-z]; every machine-global name carries it. */
  instanceId: string;
  dataDir: string;
  runDir: string;
  runcPath: string;
  launcherPath: string;
  agentPath: string;
  slots: Slots;
  /** The unpacked image of this digest; it does not change while a sandbox is made from it. */
  rootfsPath: (imageDigest: string) => string;
  /** Signs archives. */
  installationKey: Buffer;
  log: Log;
}

export interface OciRuntime extends Runtime {
  /** For other parts that run programs: inside this engine's fence, once `init` has made it. */
  readonly helpers: Helpers;
  /** After `init`: destroys every sandbox, and removes every trace of the instance outside of its data directory. */
  purge(): Promise<void>;
}

export function createOciRuntime(options: OciRuntimeOptions): OciRuntime {
  const { log, slots } = options;
  const layout = createLayout(options.dataDir, options.runDir);
  const cgroups = createCgroups(
    options.instanceId,
    parseHierarchies(readFileSync('/proc/self/mountinfo', 'utf8')),
  );
  const helpers = createHelpers(options.launcherPath, cgroups.fenceFiles);
  const machines = createMachines(layout, cgroups, options);
  const disks = createDisks(layout, helpers, log);
  const archives = createArchives(layout, helpers, options.installationKey);
  const starter = createStarter({ layout, cgroups, machines, disks, slots, rootfsPath: options.rootfsPath });
  const turns = createTurns();

  /** One piece of work on a sandbox, in its turn, with failures as callers see them. */
  async function inTurn<T>(
    id: string,
    what: string,
    work: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    try {
      return await turns.run(checked(id), work, signal);
    } catch (error) {
      throw toCallerError(error, what, log, { sandbox: id });
    }
  }

  async function stop(id: string, graceMs: number): Promise<void> {
    await machines.terminate(id, graceMs);
    await machines.clear(id);
    await slots.release(id);
  }

  async function destroy(id: string): Promise<void> {
    await stop(id, 0);
    await rm(layout.sandbox(id), { recursive: true, force: true });
  }

  /** Before work on a disk. What a killed start left of a machine goes away here. */
  async function requireStopped(id: string): Promise<void> {
    if (await machines.running(id)) {
      throw new SandhavenError('unavailable', 'The machine still runs.', { hint: 'Stop the sandbox first.' });
    }
    await machines.clear(id);
  }

  async function knownIds(): Promise<string[]> {
    const [folders, traces, held] = await Promise.all([
      readdir(layout.sandboxes),
      machines.traces(),
      slots.held(),
    ]);
    return [...new Set([...folders.filter((name) => sandboxIdPattern.test(name)), ...traces, ...held])];
  }

  const runtime: OciRuntime = {
    helpers,
    capabilities: { archive: true, liveResize: true, diskGrowth: true, network: true, gpus: 0 },

    async init() {
      await makeFolders(layout, options.runDir);
      await cgroups.prepare(memoryForMachines((await hostMemory()).totalBytes));
      starter.use({
        agentPath: await installAgent(options.agentPath, layout.agents),
        host: {
          arch: process.arch,
          swapAccounting: cgroups.swapAccounting,
          maxOpenFiles: await maxOpenFiles(),
        },
      });
      await slots.init();
      await disks.init();
    },

    async capacity() {
      const [memory, freeDisk] = await Promise.all([hostMemory(), freeDiskBytes(layout.sandboxes)]);
      return {
        freeMemoryBytes: memory.availableBytes,
        freeDiskBytes: freeDisk,
        reserveMemoryBytes: memory.totalBytes - memoryForMachines(memory.totalBytes),
        reserveDiskBytes: limits.hostReserveDiskBytes,
        freeSlots: slots.free(),
        freeGpus: 0,
      };
    },

    start: (spec, generation, callOptions) =>
      inTurn(
        spec.id,
        'The machine could not be started.',
        (signal) => starter.start(spec, generation, signal),
        callOptions?.signal,
      ),

    stop: (id, graceMs) => inTurn(id, 'The machine could not be stopped.', () => stop(id, graceMs)),

    async resizeLive(id, resources) {
      await inTurn(id, 'The machine could not be resized.', async () => {
        if (!(await machines.running(id))) {
          throw new SandhavenError('unavailable', 'The machine does not run.', {
            hint: 'Start the sandbox first.',
          });
        }
        await cgroups.resize(id, resources);
      });
    },

    growDisk: (id, diskGb) =>
      inTurn(id, 'The disk could not be grown.', async () => {
        await requireStopped(id);
        await disks.grow(id, diskGb);
      }),

    archive: (id, callOptions) =>
      inTurn(
        id,
        'The sandbox could not be archived.',
        async (signal) => {
          await requireStopped(id);
          return archives.write(id, signal);
        },
        callOptions?.signal,
      ),

    dropDisk: (id) =>
      inTurn(id, 'The disk could not be removed.', async () => {
        await requireStopped(id);
        await disks.remove(id);
      }),

    restore: (id, record, callOptions) =>
      inTurn(
        id,
        'The sandbox could not be restored.',
        async (signal) => {
          await requireStopped(id);
          await archives.restore(id, record, signal);
        },
        callOptions?.signal,
      ),

    dropArchive: (id) => inTurn(id, 'The archive could not be removed.', () => archives.remove(id)),

    async destroy(id) {
      try {
        await turns.preempt(checked(id), () => destroy(id));
      } catch (error) {
        throw toCallerError(error, 'The sandbox could not be removed.', log, { sandbox: id });
      }
    },

    async observe() {
      const ids = await knownIds();
      return Promise.all(ids.map((id) => observeOne(layout, machines.running, id)));
    },

    async inspect(id) {
      const folder = await unlessMissing(stat(layout.sandbox(checked(id))));
      return folder === null ? null : observeOne(layout, machines.running, id);
    },

    openChannel: (id) => openSocket(layout.socket(checked(id)), () => turns.busy(id)),

    async close() {
      await turns.close();
      await disks.close();
      await slots.close();
      await cgroups.removeFence();
    },

    async purge() {
      for (const id of await knownIds()) await runtime.destroy(id);
      await runtime.close();
      await slots.purge();
      await cgroups.purge();
      await rm(options.runDir, { recursive: true, force: true });
    },
  };
  return runtime;
}

async function observeOne(
  layout: Layout,
  running: (id: string) => Promise<{ generation: number } | null>,
  id: string,
): Promise<Observed> {
  const [machine, disk, archive] = await Promise.all([
    running(id),
    unlessMissing(stat(layout.disk(id))),
    unlessMissing(stat(layout.archive(id))),
  ]);
  return {
    id,
    runningGeneration: machine?.generation ?? null,
    hasDisk: disk !== null,
    hasArchive: archive !== null,
  };
}

/** Ids become names of files, cgroups and containers, so nothing else gets in. */
function checked(id: string): string {
  if (sandboxIdPattern.test(id)) return id;
  throw new SandhavenError('invalid_argument', 'This is not the id of a sandbox.', { parameter: 'sandbox' });
}
