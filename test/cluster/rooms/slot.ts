/**
 * The number of a cluster on this machine, which gives it its names and addresses; and what a cluster of a killed test
 * left behind.
 *
 * Invariant: a slot belongs to the process that `owner` in its folder names, by pid and start time. Processes, mounts and
 * network namespaces of a cluster end with its owner, so only its folder and its cgroups can be left.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

export interface Slot {
  /** Of its link on the host, and of its cgroup in each hierarchy. */
  name: string;
  /** Address `number` in the network of the nodes: 1 is the control plane, 254 the host. */
  address(number: number): string;
  /** Addresses of a node's Pods, counted from 1. */
  podRange(node: number): string;
  /** Of Services. */
  serviceRange: string;
  /** Makes a cgroup of a node in every hierarchy, and returns its path below each. */
  makeCgroup(node: string): string;
  /** Removes a node's cgroups once its processes, which have been killed, are gone. */
  removeCgroup(node: string): Promise<void>;
  /** Removes what processes leave behind; call it after their end. */
  free(): Promise<void>;
}

const SLOTS = 8;
const RUN = '/run/sandhaven-test-cluster';
const CGROUPS = '/sys/fs/cgroup';
const TRIES = 200;

/** @param folder The cluster's files. Rejects when all slots are taken. */
export async function takeSlot(folder: string): Promise<Slot> {
  mkdirSync(RUN, { recursive: true });
  const numbers = Array.from({ length: SLOTS }, (_, number) => number);
  const runOf = (number: number) => join(RUN, String(number));
  for (const number of numbers) {
    if (existsSync(runOf(number)) && !isOwned(runOf(number))) await clean(number);
  }
  const free = numbers.find((number) => claim(runOf(number), folder));
  if (free !== undefined) {
    makeCgroups(nameOf(free));
    return slotOf(free);
  }
  throw new Error(`${SLOTS} clusters run on this machine already`);
}

function slotOf(number: number): Slot {
  // 198.18.0.0/15 is for measurements of networks (RFC 2544): no host has a use for it.
  const third = number * 16;
  return {
    name: nameOf(number),
    address: (last) => `198.18.${third}.${last}`,
    podRange: (node) => `198.18.${third + node}.0/24`,
    serviceRange: `198.18.${third + 15}.0/24`,
    makeCgroup(node) {
      makeCgroups(`${nameOf(number)}/${node}`);
      return `/${nameOf(number)}/${node}`;
    },
    removeCgroup: (node) => removeCgroups(`${nameOf(number)}/${node}`),
    free: () => clean(number),
  };
}

/** The folder comes with its contents at once: without an owner, another process would take it for one left behind. */
function claim(run: string, folder: string): boolean {
  const made = mkdtempSync(join(RUN, '.claim-'));
  writeFileSync(join(made, 'owner'), `${process.pid} ${startTime(process.pid)}\n${folder}\n`);
  try {
    renameSync(made, run);
    return true;
  } catch (error) {
    rmSync(made, { recursive: true });
    if ((error as NodeJS.ErrnoException).code === 'ENOTEMPTY') return false;
    throw error;
  }
}

function isOwned(run: string): boolean {
  const [pid, time] = read(join(run, 'owner')).split(/\s/);
  return pid !== undefined && time !== undefined && startTime(Number(pid)) === time;
}

async function clean(number: number): Promise<void> {
  const run = join(RUN, String(number));
  const folder = read(join(run, 'owner')).split('\n')[1];
  await removeCgroups(nameOf(number));
  if (folder) rmSync(folder, { recursive: true, force: true });
  rmSync(run, { recursive: true, force: true });
}

/** runc also makes groups in the one of version 2 that lies beside those of version 1. */
async function removeCgroups(name: string): Promise<void> {
  for (const hierarchy of [...hierarchies(), join(CGROUPS, 'unified')]) {
    await removeCgroup(join(hierarchy, name));
  }
}

/** Waits for the end of its processes, which have been killed. */
async function removeCgroup(group: string): Promise<void> {
  for (const child of folders(group)) await removeCgroup(join(group, child));
  for (let tries = 0; ; tries++) {
    try {
      rmdirSync(group);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      if (tries === TRIES) throw error;
      await delay(50);
    }
  }
}

/** On version 1, a group of processors is of no use before it has some. */
function makeCgroups(name: string): void {
  for (const hierarchy of hierarchies()) {
    const group = join(hierarchy, name);
    mkdirSync(group, { recursive: true });
    for (const file of ['cpuset.cpus', 'cpuset.mems']) {
      if (existsSync(join(hierarchy, file)))
        writeFileSync(join(group, file), readFileSync(join(hierarchy, file)));
    }
  }
}

/** The one of version 2, or all of version 1. Beside those, `unified` is one of version 2 without controllers. */
function hierarchies(): string[] {
  if (existsSync(join(CGROUPS, 'cgroup.controllers'))) return [CGROUPS];
  return folders(CGROUPS)
    .filter((name) => name !== 'unified')
    .map((name) => join(CGROUPS, name));
}

function folders(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name);
  } catch {
    return [];
  }
}

/** In clock ticks since the machine's start; null when there is no such process. */
function startTime(pid: number): string | null {
  const stat = read(`/proc/${pid}/stat`);
  return stat === '' ? null : (stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null);
}

function nameOf(number: number): string {
  return `shk${number}`;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
