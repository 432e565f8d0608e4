/**
 * Cgroups of one instance, on v1 and v2:
 *
 * - `/sandhaven-<instance>/<sandbox id>`: a machine; the parent holds all machines together below the host's memory
 * - `/sandhaven-<instance>-helpers/<boot>`: the fence, with every helper program of one boot of the service
 * - `/sandhaven-<instance>-service`: the service itself, for its weight alone (`fairness/service-group.ts`)
 *
 * Cgroup membership is the kernel's own record of running machines, whatever became of the service.
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { randomText, sandboxIdPattern } from '../../../model/ids.ts';
import { limits } from '../../../model/limits.ts';
import type { Resources } from '../../../model/sandbox.ts';
import { setQuota } from '../fairness/processor-groups.ts';
import {
  children,
  destroyGroup,
  emptyGroup,
  endPrograms,
  type Purge,
  processesOf,
  written,
} from '../host/cgroup-processes.ts';
import { readNow, unlessMissing, writeNow } from '../host/files.ts';
import { controllerHierarchy, type Hierarchy, memoryHierarchy } from '../host/hierarchies.ts';
import { cgroupLimits } from './config.ts';

export interface Cgroups {
  /** Hierarchy that limits memory: every running machine is in it. */
  memory: Hierarchy;
  /** True when swap can be limited; on v2 known once `prepare` has made the parent. */
  hasSwapAccounting(): boolean;
  socketAccounting: boolean;
  /** Returns the path of the machine's cgroup for an OCI configuration. */
  path(id: string): string;
  /** Ends helpers of earlier boots; makes this boot's fence, and the parent that limits all machines together. */
  prepare(whole: Whole): Promise<void>;
  /** Returns the launcher's arguments that put a helper, which has one thread, into the fence. */
  fenceArguments(): string[];
  /** Sandboxes that have a cgroup, in any hierarchy. */
  ids(): Promise<string[]>;
  /** Sandboxes that have a cgroup in the hierarchy that limits memory: all that run. Costs less than `ids`. */
  present(): Promise<string[]>;
  /** Process ids of the machine, without zombies, from the hierarchy that limits its memory. */
  processes(id: string): Promise<number[]>;
  /** Kills all processes in the machine's cgroups, and removes the cgroups. A purge has more patience. */
  destroy(id: string, purge?: Purge): Promise<void>;
  /** Kills all processes in the machine's cgroups. Resolves with true when it leaves groups, which are empty. */
  empty(id: string): Promise<boolean>;
  /** Removes empty groups. Rejects with EBUSY where a process is in one. */
  remove(id: string): Promise<void>;
  /**
   * Called before the machine's first process. Sets the limit that has to precede the first socket and that runc does
   * not set, and makes the groups that `shown` returns.
   */
  admit(id: string): Promise<void>;
  /** The machine's group in each hierarchy. */
  groups(id: string): MachineGroup[];
  /** On v1, the groups that a machine sees of itself: hierarchy names and folders. Empty on v2. */
  shown(id: string): { name: string; path: string }[];
  resize(id: string, resources: Resources): Promise<void>;
  /** Freezes or thaws all processes of the machine, at once; does nothing when the machine is gone. */
  setFrozen(id: string, frozen: boolean): Promise<void>;
  /**
   * Returns the folders in which the machine can be frozen, for a helper that does it: of one version, since a process
   * that v1 froze never counts as frozen in v2.
   */
  freezers(id: string): string[];
  /** Kills every process of the machine except its PID 1. */
  endPrograms(id: string): Promise<void>;
  /** Ends the remaining helpers of this boot, and removes its fence. */
  removeFence(): Promise<void>;
  /** Removes the parent and all fences; the caller has removed the machines before. */
  purge(): Promise<void>;
}

/** A machine's group in one hierarchy. */
export type MachineGroup = Pick<Hierarchy, 'version' | 'controllers'> & { folder: string };

/** Limits of all machines together. */
export interface Whole {
  memoryBytes: number;
  /** Processes and threads. */
  processes: number;
}

/** File of v1 alone. */
export const SOCKET_LIMIT = 'memory.kmem.tcp.limit_in_bytes';

/** Controllers in which language runtimes look for their limits. */
const SHOWN = ['memory', 'cpu', 'cpuacct', 'cpuset', 'pids'];

/** Controllers of v2 that limit a machine. */
const NEEDED = ['memory', 'cpu', 'pids'];

/** @param hierarchies Result of `parseHierarchies`. Throws when none of them can limit memory. */
export function createCgroups(instanceId: string, hierarchies: Hierarchy[]): Cgroups {
  const memory = memoryHierarchy(hierarchies);
  if (!memory) throw new Error('no cgroup hierarchy with a memory controller is mounted');
  const parent = `sandhaven-${instanceId}`;
  const helpers = `${parent}-helpers`;
  const fence = `${helpers}/${randomText(8)}`;
  // Joining a v1 group through its list of threads takes no time, and no process joins a v2 group: the launcher begins
  // there. Through a list of processes the kernel first waits for all processors: milliseconds for each helper.
  const fenceHierarchy =
    hierarchies.find(({ controllers }) => controllers.includes('freezer')) ??
    hierarchies.find(({ version }) => version === 2) ??
    memory;
  const killers = hierarchies.filter(
    ({ version, controllers }) => version === 2 || controllers.includes('freezer'),
  );
  const everywhere = (group: string): string[] =>
    hierarchies.map(({ mountpoint }) => `${mountpoint}/${group}`);
  const apart = memory.version === 1 ? hierarchies : [];
  const shown: Cgroups['shown'] = (id) =>
    apart
      .filter(({ controllers }) => controllers.some((controller) => SHOWN.includes(controller)))
      .map(({ mountpoint }) => ({ name: basename(mountpoint), path: `${mountpoint}/${parent}/${id}` }));

  const folderIn = ({ mountpoint }: Hierarchy, id: string) => `${mountpoint}/${parent}/${id}`;
  /** The group that limits memory comes last: as long as it is there, the others may be. */
  const inOrder = [...hierarchies.filter((hierarchy) => hierarchy !== memory), memory];
  const cpu = controllerHierarchy(hierarchies, 'cpu');
  const liftQuota = async (id: string) => cpu && unlessMissing(setQuota(cpu, folderIn(cpu, id), null));
  const destroy: Cgroups['destroy'] = async (id, purge) => {
    await liftQuota(id);
    // Where a group can be killed as a whole, it goes first: the other hierarchies then find their processes gone.
    for (const each of [...killers, ...inOrder]) await destroyGroup(folderIn(each, id), purge);
  };

  return {
    memory,
    hasSwapAccounting: () => hasSwapAccounting(memory, parent),
    socketAccounting: existsSync(`${memory.mountpoint}/${SOCKET_LIMIT}`),
    path: (id) => `/${parent}/${id}`,
    groups: (id) =>
      hierarchies.map(({ mountpoint, ...hierarchy }) => ({
        ...hierarchy,
        folder: `${mountpoint}/${parent}/${id}`,
      })),
    fenceArguments: () => {
      const folder = `${fenceHierarchy.mountpoint}/${fence}`;
      return fenceHierarchy.version === 1 ? ['--cgroup', `${folder}/tasks`] : ['--unified-cgroup', folder];
    },

    async prepare({ memoryBytes, processes }) {
      // In all hierarchies: the fence of an earlier boot may have been in another one.
      for (const fences of everywhere(helpers)) {
        for (const name of await children(fences)) await destroyGroup(`${fences}/${name}`);
      }
      await mkdir(`${fenceHierarchy.mountpoint}/${fence}`, { recursive: true });
      const group = `${memory.mountpoint}/${parent}`;
      await mkdir(group, { recursive: true });
      if (memory.version === 2) await enableControllers(memory.mountpoint, parent);
      const sockets = memory.version === 1 ? Math.floor(memoryBytes / limits.kernel.socketMemoryDivisor) : 0;
      await setMemory(memory, group, memoryBytes - sockets);
      await setSocketMemory(memory, group, sockets);
      await cloneProcessors(hierarchies, parent);
      const pids = controllerHierarchy(hierarchies, 'pids');
      if (!pids) return;
      await mkdir(`${pids.mountpoint}/${parent}`, { recursive: true });
      await writeFile(`${pids.mountpoint}/${parent}/pids.max`, String(processes));
    },

    async ids() {
      const names = await Promise.all(everywhere(parent).map(children));
      return [...new Set(names.flat())].filter((name) => sandboxIdPattern.test(name));
    },

    present: async () =>
      (await children(`${memory.mountpoint}/${parent}`)).filter((name) => sandboxIdPattern.test(name)),

    processes: (id) => processesOf(folderIn(memory, id)),

    destroy,

    async empty(id) {
      await liftQuota(id);
      for (const killer of killers) if (killer !== memory) await destroyGroup(folderIn(killer, id));
      const isLeft = await emptyGroup(folderIn(memory, id));
      if (!isLeft) await destroy(id);
      return isLeft;
    },

    async remove(id) {
      for (const each of inOrder) await unlessMissing(rmdir(folderIn(each, id)));
    },

    async admit(id) {
      if (memory.version === 2) return;
      await Promise.all(shown(id).map(({ path }) => mkdir(path, { recursive: true })));
      const group = `${memory.mountpoint}/${parent}/${id}`;
      await setSocketMemory(memory, group, limits.kernel.socketMemoryBytes);
    },

    shown,

    async resize(id, resources) {
      const { memoryBytes, ...processor } = cgroupLimits(resources);
      const group = `${memory.mountpoint}/${parent}/${id}`;
      await setMemory(memory, group, memoryBytes);
      await setSocketMemory(memory, group, limits.kernel.socketMemoryBytes);
      if (cpu) await setQuota(cpu, folderIn(cpu, id), processor);
    },

    async setFrozen(id, frozen) {
      for (const { mountpoint, version } of killers) {
        const group = `${mountpoint}/${parent}/${id}`;
        if (version === 2) writeNow(`${group}/cgroup.freeze`, frozen ? '1' : '0');
        else writeNow(`${group}/freezer.state`, frozen ? 'FROZEN' : 'THAWED');
      }
    },

    freezers: (id) =>
      killers
        .filter(({ version }) => version === memory.version)
        .map(({ mountpoint }) => `${mountpoint}/${parent}/${id}`),

    async endPrograms(id) {
      for (const { mountpoint } of killers) await endPrograms(`${mountpoint}/${parent}/${id}`);
    },

    removeFence: () => destroyGroup(`${fenceHierarchy.mountpoint}/${fence}`),

    async purge() {
      for (const group of [parent, helpers]) {
        for (const directory of everywhere(group)) {
          const groups = (await children(directory)).map((name) => `${directory}/${name}`);
          for (const each of [...groups, directory]) await destroyGroup(each, { onWait: () => {} });
        }
      }
    },
  };
}

/** The root has no such file on v2. */
function hasSwapAccounting({ version, mountpoint }: Hierarchy, parent: string): boolean {
  const file = version === 2 ? `${parent}/memory.swap.max` : 'memory.memsw.limit_in_bytes';
  return existsSync(`${mountpoint}/${file}`);
}

/** Machines need three of v2's controllers, and see the figures of all that the host has, as with runc. */
async function enableControllers(root: string, parent: string): Promise<void> {
  const all = (await readFile(`${root}/cgroup.controllers`, 'utf8')).split(/\s+/).filter(Boolean);
  for (const folder of [root, `${root}/${parent}`]) {
    for (const controller of new Set([...NEEDED, ...all])) {
      const enabled = writeFile(`${folder}/cgroup.subtree_control`, `+${controller}`);
      await (NEEDED.includes(controller) ? enabled : enabled.catch(() => {}));
    }
  }
}

/** Bounds memory and swap together to `bytes`. v1 requires memory ≤ memory + swap at every moment. */
async function setMemory({ version }: Hierarchy, group: string, bytes: number): Promise<void> {
  if (version === 2) {
    await writeFile(`${group}/memory.max`, String(bytes));
    await unlessMissing(writeFile(`${group}/memory.swap.max`, '0', { flag: 'r+' }));
    return;
  }
  const [plain, withSwap] = [`${group}/memory.limit_in_bytes`, `${group}/memory.memsw.limit_in_bytes`];
  const current = await unlessMissing(readFile(withSwap, 'utf8'));
  if (current === null) return writeFile(plain, String(bytes));
  const order = Number(current) < bytes ? [withSwap, plain] : [plain, withSwap];
  for (const file of order) await writeFile(file, String(bytes));
}

/** Bounds buffers of TCP and UDP, which v1 counts apart from a group's memory; v2 counts them as part of it. */
async function setSocketMemory({ version }: Hierarchy, group: string, bytes: number): Promise<void> {
  if (version === 1) await written(`${group}/${SOCKET_LIMIT}`, String(bytes));
}

/**
 * Gives the parent the processors and the memory nodes of the host, unless it has some, and new machines those of the parent: a
 * group that is given its own later has the kernel look at all others.
 */
async function cloneProcessors(hierarchies: Hierarchy[], parent: string): Promise<void> {
  const cpuset = hierarchies.find(({ controllers }) => controllers.includes('cpuset'));
  if (!cpuset) return;
  const group = `${cpuset.mountpoint}/${parent}`;
  await mkdir(group, { recursive: true });
  await written(`${group}/cgroup.clone_children`, '1');
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    const [own, all] = [`${group}/${file}`, `${cpuset.mountpoint}/${file}`].map((path) =>
      readNow(path)?.trim(),
    );
    if (own === '' && all) await written(`${group}/${file}`, all);
  }
}
