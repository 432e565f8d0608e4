/**
 * The `Runtime` port over a host in memory. It goes the way of the real engine: the same order of traces, looked at
 * anew by every call, with a point between any two changes where the service may be killed or the host may fail.
 */
import { createHmac } from 'node:crypto';
import { Duplex } from 'node:stream';
import { KeyedQueue } from '../../../src/concurrency/keyed-queue.ts';
import type {
  Capacity,
  CapturedDisks,
  MachineSpec,
  Observed,
  Runtime,
} from '../../../src/control/ports/index.ts';
import { SandhavenError } from '../../../src/model/errors.ts';
import { sandboxIdPattern } from '../../../src/model/ids.ts';
import { nodeAway } from '../../../src/model/lost-node.ts';
import type { ArchiveRecord } from '../../../src/model/sandbox.ts';
import { type Archive, copyOf, type Disk, type MemoryHost, packed } from './memory-host.ts';

const GiB = 1024 ** 3;

export interface MemoryRuntimeOptions {
  host: MemoryHost;
  /** Resolves when the host has done the next small part of the work; rejects where it fails. */
  point(label: string): Promise<void>;
  /** Throws when this process may change nothing any more. */
  fence?(): unknown;
  /** false as on a cluster, where no process is the only one that puts policies in force. */
  networkPolicies?: boolean;
}

const KEY = 'installation';
const RESERVE_GB = 4;

export function createMemoryRuntime({
  host,
  point,
  fence = () => {},
  networkPolicies = true,
}: MemoryRuntimeOptions): Runtime {
  const { inTurn, atOnce, close } = createTurns();
  const step = async (label: string, signal?: AbortSignal): Promise<void> => {
    signal?.throwIfAborted();
    await point(`engine: ${label}`);
    fence();
    signal?.throwIfAborted();
  };
  const parts = { host, step };

  return {
    capabilities: {
      ...{ archive: true, liveResize: true, diskGrowth: true, network: true, networkPolicies },
      secrets: networkPolicies,
    },
    authority: (id) => (networkPolicies ? `certificate of ${id}` : null),
    init: async () => {},
    close,
    start: (spec, generation, options) =>
      inTurn(spec.id, (signal) => start(parts, spec, generation, signal), options?.signal),
    stop: (id, _, newest) => inTurn(id, () => stop(parts, id, newest)),
    resizeLive: (id, { cpu, memory }) =>
      inTurn(id, async () => {
        const machine = host.running(id);
        if (!machine) throw unavailable('The machine does not run.');
        await step('resize the memory');
        assertAnswers(host, id);
        machine.size.memory = memory;
        await step('resize the processor');
        assertAnswers(host, id);
        machine.size.cpu = cpu;
      }),
    destroy: (id) =>
      atOnce(id, async () => {
        await stop(parts, id);
        await step('remove the folder');
        const traces = host.sandboxes.get(id);
        if (traces) host.watchers?.destroys(id, traces);
        host.remove(id);
      }),
    ...storage(parts, inTurn),
    // A cluster has none.
    ...(networkPolicies ? { captures: captures(parts, inTurn) } : {}),
    observe: async () => {
      await step('observe');
      return [...host.sandboxes.keys()].flatMap((id) => observed(host, id) ?? []);
    },
    inspect: async (id) => observed(host, id),
    capacity: async () => capacity(host),
    usage: async (id) => ({
      cpuMs: null,
      memoryBytes: host.running(id) ? 1 : null,
      diskBytes: host.sandboxes.get(id)?.disk ? 1 : null,
    }),
    deviceEnvironment: () => ({}),
    assign: () => {},
    setNetwork: (id, policy, secrets = []) =>
      inTurn(id, async () => {
        await step('put the network in force');
        host.networks.set(id, policy);
        host.secrets.set(id, secrets);
      }),
    pausedReason: () => null,
    openChannel: async (id) => {
      if (!host.running(id)) throw unavailable('The machine does not run.');
      return new Duplex();
    },
  };
}

type InTurn = <T>(id: string, work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal) => Promise<T>;

/** Work of one sandbox runs one piece at a time, and fails with a typed error only. */
function createTurns() {
  const turns = new KeyedQueue({ preempted: () => unavailable('A later call has replaced this one.') });
  const inTurn: InTurn = (id, work, signal) => typed(id, () => turns.run(id, work, signal));
  return {
    inTurn,
    atOnce: <T>(id: string, work: () => Promise<T>) => typed(id, () => turns.preempt(id, work)),
    close: () => turns.close(),
  };
}

async function typed<T>(id: string, begin: () => Promise<T>): Promise<T> {
  if (!sandboxIdPattern.test(id))
    throw new SandhavenError('invalid_argument', 'Not the id of a sandbox.', {});
  try {
    return await begin();
  } catch (error) {
    if (error instanceof SandhavenError) throw error;
    const full = error instanceof Error && 'code' in error && error.code === 'ENOSPC';
    throw full ? exhausted('The host has no disk space left.') : unavailable(`The host failed: ${error}`);
  }
}

interface Dependencies {
  host: MemoryHost;
  step(label: string, signal?: AbortSignal): Promise<void>;
}

async function start(
  parts: Dependencies,
  spec: MachineSpec,
  generation: number,
  signal: AbortSignal,
): Promise<void> {
  const { host } = parts;
  const { id } = spec;
  signal.throwIfAborted();
  if (!host.makeFolder(id)) {
    const present = host.running(id);
    if (present?.generation === generation) return;
    const newest = Math.max(present?.generation ?? 0, ...host.of(id).bundles);
    if (generation < newest) throw unavailable('A newer operation on the sandbox has replaced this one.');
    end(host, id);
  }
  try {
    await launch(parts, spec, generation, signal);
  } catch (error) {
    clear(host, id);
    throw error;
  }
}

/** A bundle is written after the disk is there, so one without a disk shows a loss. */
async function launch(
  { host, step }: Dependencies,
  { id, imageDigest, resources, from }: MachineSpec,
  generation: number,
  signal: AbortSignal,
): Promise<void> {
  const traces = host.of(id);
  if (!traces.slot && host.freeSlots() === 0) throw exhausted('No slot for another machine is free.');
  traces.slot = true;
  await step('prepare the disk', signal);
  if (!traces.disk) {
    if (traces.bundles.length > 0) throw unavailable("The sandbox's disk is not there.");
    if (host.freeDiskGb <= 0) throw exhausted('The host has no disk space left.');
    traces.disk =
      from === undefined ? { gb: resources.disk, files: new Map() } : copyOf(capturedDisk(host, from));
  }
  await step('write the bundle', signal);
  traces.bundles.push(generation);
  await step('launch', signal);
  if (!host.images.has(imageDigest)) host.watchers?.misses(imageDigest);
  host.boot(id, generation, resources);
  traces.bundles = [generation];
}

async function stop(
  { host, step }: Dependencies,
  id: string,
  newest = Number.POSITIVE_INFINITY,
): Promise<void> {
  if (!host.sandboxes.has(id)) return;
  await step('terminate');
  if ((host.running(id)?.generation ?? 0) > newest) return;
  end(host, id);
  host.networks.delete(id);
  host.secrets.delete(id);
}

/** Ends the machine, or dooms it where its node does not answer. Leaves the disk. */
function end(host: MemoryHost, id: string): void {
  const machine = host.running(id);
  if (machine && host.isAway(id)) machine.doomed = true;
  assertAnswers(host, id);
  clear(host, id);
}

function assertAnswers(host: MemoryHost, id: string): void {
  if (host.isAway(id)) throw nodeAway();
}

/** Leaves the disk. */
function clear(host: MemoryHost, id: string): void {
  host.endInit(id);
  const traces = host.of(id);
  traces.machine = null;
  traces.slot = false;
}

type Storage = Pick<Runtime, 'growDisk' | 'archive' | 'dropDisk' | 'restore' | 'dropArchive'>;

function storage({ host, step }: Dependencies, inTurn: InTurn): Storage {
  const stopped = (id: string) => {
    if (host.running(id)) throw unavailable('The machine runs.');
  };
  const diskOf = (id: string) => {
    const disk = host.sandboxes.get(id)?.disk;
    if (!disk) throw unavailable("The sandbox's disk is not there.");
    return disk;
  };
  return {
    growDisk: (id, diskGb) =>
      inTurn(id, async () => {
        stopped(id);
        const disk = diskOf(id);
        await step('grow the disk');
        disk.gb = Math.max(disk.gb, diskGb);
      }),
    archive: (id, _generation, options) =>
      inTurn(
        id,
        async (signal) => {
          stopped(id);
          const disk = diskOf(id);
          const traces = host.of(id);
          await step('pack', signal);
          if (host.freeDiskGb <= 0) throw exhausted('The host has no disk space left.');
          traces.partial = packed(disk);
          await step('verify', signal);
          traces.archive = traces.partial;
          traces.partial = null;
          return recordOf(id, traces.archive);
        },
        options?.signal,
      ),
    dropDisk: (id) =>
      inTurn(id, async () => {
        stopped(id);
        await step('drop the disk');
        const traces = host.sandboxes.get(id);
        if (!traces?.disk) return;
        host.watchers?.dropsDisk(id, traces);
        host.of(id).disk = null;
      }),
    restore: ({ id }, _generation, record, options) =>
      inTurn(
        id,
        async (signal) => {
          stopped(id);
          const archive = host.sandboxes.get(id)?.archive;
          if (!archive || !isOf(id, record, archive)) throw unavailable('The archive is not its own.');
          await step('unpack', signal);
          const traces = host.of(id);
          traces.restoring = copyOf(archive.disk);
          await step('put the disk in its place', signal);
          traces.disk = traces.restoring;
          traces.restoring = null;
        },
        options?.signal,
      ),
    dropArchive: (id) =>
      inTurn(id, async () => {
        await step('drop the archive');
        const traces = host.sandboxes.get(id);
        if (!traces?.archive) return;
        host.watchers?.dropsArchive(id, traces);
        host.of(id).archive = null;
      }),
  };
}

function captures({ host, step }: Dependencies, inTurn: InTurn): CapturedDisks {
  const unnamed = new Set<string>();
  const drop = async (captureId: string) => {
    unnamed.delete(captureId);
    await step('drop a captured disk');
    host.captures.delete(captureId);
  };
  return {
    drop,
    async capture(captureId, { id, archive: record }, options) {
      const make = async (signal: AbortSignal) => {
        if (!captureId.startsWith('snap_')) unnamed.add(captureId);
        host.captures.set(captureId, null);
        await step('capture the disk', signal);
        const { disk = null, archive = null } = host.sandboxes.get(id) ?? {};
        const source = disk ?? (record && archive && isOf(id, record, archive) ? archive.disk : null);
        if (!source) throw unavailable("The sandbox's disk is not there.");
        if (host.freeDiskGb <= 0) throw exhausted('The host has no disk space left.');
        const copy = copyOf(source);
        await step('commit the captured disk', signal);
        host.captures.set(captureId, copy);
        return { sizeBytes: 1 };
      };
      try {
        return await inTurn(id, make, options?.signal);
      } catch (error) {
        await typed(id, () => drop(captureId));
        throw error;
      }
    },
    stage: (id, captureId, options) =>
      inTurn(
        id,
        async (signal) => {
          host.of(id).staged = null;
          await step('stage the captured disk', signal);
          if (host.freeDiskGb <= 0) throw exhausted('The host has no disk space left.');
          const copy = copyOf(capturedDisk(host, captureId));
          await step('commit the staged disk', signal);
          host.of(id).staged = copy;
        },
        options?.signal,
      ),
    putBack: (id, captureId, { diskGb, signal: given }) =>
      inTurn(
        id,
        async (signal) => {
          if (host.running(id)) throw unavailable('The machine runs.');
          const traces = host.of(id);
          traces.staged ??= copyOf(capturedDisk(host, captureId));
          await step('grow the staged disk', signal);
          traces.staged.gb = Math.max(traces.staged.gb, diskGb);
          await step('put the disk back', signal);
          traces.disk = traces.staged;
          traces.staged = null;
        },
        given,
      ),
    async copy(captureId, to) {
      unnamed.add(to);
      await step('copy a captured disk');
      host.captures.set(to, copyOf(capturedDisk(host, captureId)));
      return { sizeBytes: 1 };
    },
    release: (captureId) => void unnamed.delete(captureId),
    sizeOf: async (captureId) => (host.captures.get(captureId) ? 1 : null),
    async collect(named) {
      const found = [...host.captures.keys()];
      const before = new Set(unnamed);
      const kept = await named();
      for (const captureId of found)
        if (!kept.has(captureId) && !before.has(captureId) && !unnamed.has(captureId)) await drop(captureId);
    },
  };
}

function capturedDisk(host: MemoryHost, captureId: string): Disk {
  const disk = host.captures.get(captureId);
  if (disk) return disk;
  throw new SandhavenError('not_found', 'The captured disk is gone.', { resource: 'snapshot' });
}

function recordOf(id: string, { digest }: Archive): ArchiveRecord {
  const hmac = createHmac('sha256', KEY).update(`${id}\n${digest}`).digest('hex');
  return { store: 'local', digest, hmac, sizeBytes: digest.length };
}

function isOf(id: string, record: ArchiveRecord, archive: Archive): boolean {
  const { digest, hmac, sizeBytes } = recordOf(id, archive);
  return record.digest === digest && record.hmac === hmac && record.sizeBytes === sizeBytes;
}

function observed(host: MemoryHost, id: string): Observed | null {
  const traces = host.sandboxes.get(id);
  if (!traces) return null;
  const runningGeneration = host.running(id)?.generation ?? null;
  return {
    ...{ id, runningGeneration, hasDisk: traces.disk !== null, hasArchive: traces.archive !== null },
    ...(host.isAway(id) ? { unreachable: true as const } : {}),
  };
}

function capacity(host: MemoryHost): Capacity {
  return {
    freeMemoryBytes: host.freeMemoryGb * GiB,
    freeDiskBytes: host.freeDiskGb * GiB,
    reserveMemoryBytes: GiB,
    reserveDiskBytes: RESERVE_GB * GiB,
    freeSlots: host.freeSlots(),
    gpus: 0,
    freeGpus: 0,
  };
}

function unavailable(detail: string): SandhavenError {
  return new SandhavenError('unavailable', detail, {});
}

function exhausted(detail: string): SandhavenError {
  return new SandhavenError('resource_exhausted', detail, {});
}
