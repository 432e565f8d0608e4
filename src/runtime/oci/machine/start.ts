/**
 * Start of a machine. A start that fails or is canceled leaves the disk and nothing else; the next call for
 * the sandbox clears away a start that was killed with the service.
 */
import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MachineSpec } from '../../../control/ports/index.ts';
import { SandhavenError } from '../../../model/errors.ts';
import type { Disks } from '../disk/disks.ts';
import type { ReadyLoopDevices } from '../disk/loop-devices.ts';
import type { Gpus } from '../gpu/gpus.ts';
import { commit, sync, unlessMissing } from '../host/files.ts';
import { bundleGeneration, type Layout } from '../host/layout.ts';
import type { Slot } from '../host/plan.ts';
import type { Slots } from '../network/slots-port.ts';
import type { Cgroups } from './cgroups.ts';
import { buildConfig, ETC_FILES, type HostFacts, type MachineConfig } from './config.ts';
import type { MachineRuntime } from './machine-runtime.ts';
import type { Machines } from './running.ts';

export interface Starter {
  /** Called once, when the host is known. */
  use(facts: Facts): void;
  start(spec: MachineSpec, generation: number, signal: AbortSignal): Promise<void>;
}

interface Facts {
  /** File name of the installed, immutable agent. */
  agentName: string;
  host: HostFacts;
}

interface Dependencies {
  layout: Layout;
  cgroups: Cgroups;
  machines: Machines;
  disks: Disks;
  loopDevices: Pick<ReadyLoopDevices, 'taken'>;
  slots: Slots;
  gpus: Gpus;
  machineRuntime: MachineRuntime;
  rootfsPath: (imageDigest: string) => string;
}

export function createStarter({
  layout,
  cgroups,
  machines,
  disks,
  loopDevices,
  slots,
  gpus,
  machineRuntime,
  rootfsPath,
}: Dependencies): Starter {
  let facts: Facts | null = null;

  async function launch(spec: MachineSpec, generation: number, signal: AbortSignal): Promise<void> {
    if (!facts) throw new Error('the runtime is not initialised');
    const { id, resources } = spec;
    const bundle = layout.bundle(id, generation);
    await machines.makeWay(id);
    const devices = await gpus.acquire(id, resources.gpu);
    const slot = await slots.acquire(id);
    await ensureDisk(spec, signal);
    const machine = {
      ...{ id, generation, slot, resources, devices, agentName: facts.agentName, host: facts.host },
      stagePath: layout.stage,
      cgroupPath: cgroups.path(id),
    };
    await writeBundle(bundle, machine, machineRuntime);
    const durable = sync(layout.sandbox(id)).then(() => sync(layout.sandboxes));
    durable.catch(() => {});
    // The launcher does it itself where it starts the machine.
    if (machineRuntime.kind === 'runc') await cgroups.admit(id);
    await machines.launch({ bundle, lower: rootfsPath(spec.imageDigest), machine }, signal);
    loopDevices.taken();
    await durable;
    await slots.networkSet(id);
    await removeOldBundles(layout, id);
  }

  /** Makes the disk. A bundle is written after its disk, so a bundle without one shows a loss that a new disk hides. */
  async function ensureDisk({ id, resources, from }: MachineSpec, signal: AbortSignal): Promise<void> {
    const lost = !(await disks.has(id)) && (await bundleGenerations(layout, id)).length > 0;
    if (lost) {
      throw new SandhavenError('unavailable', "The sandbox's disk is not there.", {
        hint: 'An archived sandbox is restored first; otherwise ask the operator.',
        retryable: false,
      });
    }
    const image = from === undefined ? undefined : layout.capture(from);
    await disks.ensure(id, resources.disk, { from: image, signal });
  }

  return {
    use(given) {
      facts = given;
    },

    async start(spec, generation, signal) {
      const { id } = spec;
      const fresh = await makeFolder(layout.sandbox(id));
      if (!fresh) {
        const present = await machines.running(id);
        if (present?.generation === generation) return;
        await refuseLate(layout, id, generation, present?.generation ?? null);
        await machines.clear(id);
      }
      try {
        await launch(spec, generation, signal);
      } catch (error) {
        // If this fails too, the next call for the sandbox repeats it; the caller needs the first error.
        await machines
          .clear(id)
          .then(() => gpus.release(id))
          .then(() => slots.release(id))
          .catch(() => {});
        throw error;
      }
    },
  };
}

/** Returns true when the folder is new; then the sandbox had no other trace. */
async function makeFolder(path: string): Promise<boolean> {
  return (await mkdir(path, { recursive: true, mode: 0o700 })) !== undefined;
}

/** Rejects a start of an older generation than the host has seen, so that it undoes nothing newer. */
async function refuseLate(
  layout: Layout,
  id: string,
  generation: number,
  running: number | null,
): Promise<void> {
  const newest = Math.max(running ?? 0, ...(await bundleGenerations(layout, id)));
  if (generation >= newest) return;
  throw new SandhavenError('unavailable', 'A newer operation on the sandbox has replaced this one.', {
    hint: 'Look at its state with Sandbox.GetSandbox.',
    retryable: false,
  });
}

/** Writes the files that runc and the launcher read for one generation of a machine. */
async function writeBundle(
  bundle: string,
  machine: MachineConfig & { slot: Slot },
  runtime: MachineRuntime,
): Promise<void> {
  await mkdir(join(bundle, 'etc'), { recursive: true, mode: 0o700 });
  const etc = etcFiles(machine.id, machine.slot);
  const forRunc =
    runtime.kind === 'runc'
      ? [writeFile(join(bundle, 'config.json'), JSON.stringify(buildConfig(machine)))]
      : [];
  await Promise.all([
    ...forRunc,
    ...ETC_FILES.map((name) => writeFile(join(bundle, 'etc', name), etc[name], { mode: 0o644 })),
  ]);
}

/** Generations that have a bundle, ascending. */
async function bundleGenerations(layout: Layout, id: string): Promise<number[]> {
  const names = (await unlessMissing(readdir(layout.sandbox(id)))) ?? [];
  return names
    .map(bundleGeneration)
    .filter((generation) => generation !== null)
    .sort((a, b) => a - b);
}

/** Keeps the bundle of the newest generation, so that a late start of an older one is recognized. */
async function removeOldBundles(layout: Layout, id: string): Promise<void> {
  for (const generation of (await bundleGenerations(layout, id)).slice(0, -1)) {
    await rm(layout.bundle(id, generation), { recursive: true, force: true });
  }
}

function etcFiles(id: string, slot: Slot): Record<(typeof ETC_FILES)[number], string> {
  return {
    hosts: `127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n${slot.address}\t${id}\n`,
    hostname: `${id}\n`,
    'resolv.conf': `nameserver ${slot.gateway}\n`,
  };
}

/**
 * Installs the agent as an immutable file named by its digest: a new build never replaces one that a machine runs, and
 * applies at the machine's next start. Returns the file's name. Removes all others; machines that run them are not affected.
 */
export async function installAgent(agentPath: string, agents: string): Promise<string> {
  const program = await readFile(agentPath);
  const name = createHash('sha256').update(program).digest('hex');
  const path = join(agents, name);
  if ((await unlessMissing(stat(path))) === null) {
    const partial = `${path}.partial`;
    await writeFile(partial, program);
    await chmod(partial, 0o755);
    await commit(partial, path);
  }
  for (const other of await readdir(agents)) {
    if (other !== name) await rm(join(agents, other));
  }
  return name;
}
