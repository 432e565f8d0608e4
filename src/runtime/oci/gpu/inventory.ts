/**
 * Inventory of this host's GPUs: devices of the chosen kind with all their nodes and files present. Each is one whole
 * piece of hardware, however many names its specification has for it.
 */
import { lstat, readdir, readlink, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { GpuKind } from '../../../model/gpu-kind.ts';
import { limits } from '../../../model/limits.ts';
import { unlessMissing } from '../host/files.ts';
import { type CdiDevice, fingerprint, readCdiDevices } from './cdi-folders.ts';
import type { CdiEdits, CdiMount, CdiNode } from './cdi-spec.ts';
import { type DeviceMount, type DeviceNode, type Gpu, isSameHardware, keyOf } from './device.ts';

export interface Inventory {
  gpus: Gpu[];
  /** Reasons for which devices of a specification are not handed out. */
  problems: string[];
  /** Edits that the specifications ask for and that are ignored. */
  leftOut: string[];
}

/** Keeps a result without problems until a specification changes. */
export function createInventory(folders: string[], wanted: GpuKind): () => Promise<Inventory> {
  let known: { fingerprint: string; inventory: Inventory } | null = null;
  return async () => {
    const now = await fingerprint(folders);
    if (known?.fingerprint === now) return known.inventory;
    const inventory = await take(folders, wanted);
    // The driver may be loaded after the service.
    known = inventory.problems.length === 0 ? { fingerprint: now, inventory } : null;
    return inventory;
  };
}

async function take(folders: string[], { kind, names }: GpuKind): Promise<Inventory> {
  const { devices, problems } = await readCdiDevices(folders, kind);
  const chosen = devices.filter(({ name }) => (names ? names.includes(name) : isWhole(name)));
  const gpus: Gpu[] = [];
  const leftOut: string[] = [];
  for (const name of names ?? []) {
    if (!devices.some((device) => device.name === name)) problems.push(`${kind}=${name}: there is none`);
  }
  for (const device of chosen) {
    try {
      const found = await gpuOf(device, leftOut);
      const same = gpus.find(({ hardware }) => isSameHardware(hardware, found.hardware));
      // Normal where each GPU has both its number and its UUID as names; a mistake where the operator has named both.
      const clash = same ? undefined : gpus.find((gpu) => sharesPath(gpu, found));
      if (clash) throw new Error(`it has a path in common with ${clash.name} that leads elsewhere`);
      if (!same) gpus.push(found);
      else if (names) problems.push(`${kind}=${device.name}: the same hardware as ${same.name}`);
    } catch (error) {
      problems.push(`${kind}=${device.name}: ${(error as Error).message}`);
    }
  }
  return { gpus, problems, leftOut: [...new Set(leftOut)].toSorted() };
}

/** Excludes names of all GPUs at once and of parts of one, as NVIDIA's tool assigns them. */
function isWhole(name: string): boolean {
  return name !== 'all' && !/^\d+:\d+$|^MIG-/.test(name);
}

async function gpuOf({ name, common, own }: CdiDevice, leftOut: string[]): Promise<Gpu> {
  const hardware = await Promise.all(own.nodes.map(resolveNode));
  if (hardware.length === 0) throw new Error('it has no device node of its own');
  const nodes = [...(await Promise.all(common.nodes.map(resolveNode))), ...hardware];
  const mounts = (await Promise.all([...common.mounts, ...own.mounts].map(resolveMount))).flat();
  leftOut.push(...[common, own].flatMap((edits: CdiEdits) => edits.leftOut));
  if (mounts.length < common.mounts.length + own.mounts.length) leftOut.push('socket of the host');
  return {
    name,
    hardware: [...new Set(hardware.map(keyOf))].toSorted(),
    devices: { nodes, mounts: await libraryNames(mounts) },
    env: { ...common.env, ...own.env },
  };
}

/** Returns true when a path leads to different devices in both, so that no machine could have both. */
function sharesPath(a: Gpu, b: Gpu): boolean {
  const keys = new Map(a.devices.nodes.map((node) => [node.path, keyOf(node)]));
  return b.devices.nodes.some((node) => (keys.get(node.path) ?? keyOf(node)) !== keyOf(node));
}

async function resolveNode(node: CdiNode): Promise<DeviceNode> {
  const { path, mode, uid, gid, access } = node;
  const rest = { path, mode, uid, gid, access };
  if (node.type !== null && node.major !== null) {
    return { ...rest, type: node.type, major: node.major, minor: node.minor ?? 0 };
  }
  const found = await unlessMissing(lstat(node.hostPath, { bigint: true }));
  if (!found) throw new Error(`${node.hostPath} is not there`);
  const type = found.isCharacterDevice() ? 'c' : found.isBlockDevice() ? 'b' : null;
  if (type === null || (node.type ?? type) !== type)
    throw new Error(`${node.hostPath} is another kind of file`);
  return { ...rest, type, ...numbersOf(found.rdev) };
}

/** Unpacks device numbers in the format of Linux. */
function numbersOf(rdev: bigint): { major: number; minor: number } {
  const major = ((rdev >> 8n) & 0xfffn) | ((rdev >> 32n) & 0xfffff000n);
  const minor = (rdev & 0xffn) | ((rdev >> 12n) & 0xffffff00n);
  return { major: Number(major), minor: Number(minor) };
}

/** Folders in which root's daemons of the host have their sockets and other files for clients. */
const daemonFolders = /^\/(?:run|tmp|var\/run|var\/tmp)\//;

/** Accepts a file or a folder. Leaves out sockets and folders of daemons: no sandbox may reach the host's programs. */
async function resolveMount({ hostPath, containerPath }: CdiMount): Promise<DeviceMount[]> {
  const ofDaemons = daemonFolders.test(hostPath);
  const found = await unlessMissing(stat(hostPath));
  if (!found && !ofDaemons) throw new Error(`${hostPath} is not there; has the driver changed since?`);
  const wanted = found?.isFile() || (found?.isDirectory() && !ofDaemons);
  return wanted ? [{ source: hostPath, destination: containerPath }] : [];
}

/**
 * Adds the names by which programs load libraries of drivers: others than their files' (libcuda.so.1, a link to
 * libcuda.so.580.95.05). Specifications leave those links to hooks, programs that run as root over a sandbox's own
 * files. Here the names come from the host's links, and the same file is mounted under each.
 */
async function libraryNames(mounts: DeviceMount[]): Promise<DeviceMount[]> {
  const libraries = mounts.filter(({ source }) => stemOf(source) !== null);
  const folders = [...new Set(libraries.map(({ source }) => dirname(source)))];
  const namesIn = new Map(
    await Promise.all(folders.map(async (folder) => [folder, await namesOf(folder)] as const)),
  );
  const found = await Promise.all(libraries.map((library) => further(library, namesIn)));
  const taken = new Set(mounts.map(({ destination }) => destination));
  return [...mounts, ...found.flat().filter(({ destination }) => !taken.has(destination))];
}

async function further(
  { source, destination }: DeviceMount,
  namesIn: Map<string, string[]>,
): Promise<DeviceMount[]> {
  const folder = dirname(source);
  const stem = stemOf(source);
  const candidates = (namesIn.get(folder) ?? []).filter(
    (name) => stemOf(name) === stem && name !== basename(source),
  );
  const leading = await Promise.all(
    candidates.map(async (name) => (await end(folder, name, candidates.length)) === source),
  );
  return candidates
    .filter((_, index) => leading[index])
    .map((name) => ({ source, destination: join(dirname(destination), name) }));
}

/** Follows a chain of links within the folder to its end; null when it leaves the folder or is too long. */
async function end(folder: string, name: string, links: number): Promise<string | null> {
  let path = join(folder, name);
  for (let left = links; left >= 0; left--) {
    const target = await readlink(path).catch(() => null);
    if (target === null) return path;
    path = resolve(folder, target);
    if (dirname(path) !== folder) return null;
  }
  return null;
}

async function namesOf(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  return names.length > limits.cdi.folderNames ? [] : names.filter((name) => stemOf(name) !== null);
}

/** Returns "libcuda.so" for libcuda.so.1; null for files that are no library. */
function stemOf(path: string): string | null {
  return /^(lib.+?\.so)(?:\.[0-9.]+)?$/.exec(basename(path))?.[1] ?? null;
}
