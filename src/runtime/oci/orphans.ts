/**
 * Orphans: the remains on this host of instances that can never start again. Their data directory is gone, or belongs
 * to another instance by now, and no service of theirs runs.
 *
 * Invariant: no instance that may still live counts as an orphan. Without a run folder here it may live in another
 * container: then it is an orphan only when no process and no fence of it is left.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../control/ports/index.ts';
import { removeDiskStore } from './disk/disk-store.ts';
import { createServiceGroup } from './fairness/service-group.ts';
import { type Hierarchy, parseHierarchies } from './host/hierarchies.ts';
import { isAlive, ownerOf } from './host/liveness.ts';
import { allLocks } from './host/locks.ts';
import { type Cgroups, createCgroups } from './machine/cgroups.ts';
import { listChains } from './network/foreign-forward.ts';
import { createSlots } from './network/slots.ts';

export interface Orphan {
  instance: string;
  /** Path of its data directory; null when unknown. */
  dataDir: string | null;
  /** Number of machines that still run. */
  machines: number;
}

const runFolder = /^sandhaven-([0-9a-z]{6})$/;
const machinesGroup = /^sandhaven-([0-9a-z]{6})(?:-helpers|-service)?$/;
const firewallTable = /^sandhaven_([0-9a-z]{6})$/;
const hostLink = /^ *sh([0-9a-z]{6})-\d+:/gm;

export async function findOrphans(): Promise<Orphan[]> {
  const hierarchies = currentHierarchies();
  const found: Orphan[] = [];
  for (const id of await instancesSeen(hierarchies)) {
    const orphan = await asOrphan(id, hierarchies);
    if (orphan) found.push(orphan);
  }
  if (found.length === 0) return found;
  // Drops an instance that was just being purged.
  const left = await instancesSeen(hierarchies);
  return found.filter(({ instance }) => left.includes(instance));
}

/** Ends its machines, and removes every trace; does nothing when it is no longer an orphan. */
export async function removeOrphan(
  { instance: id }: Pick<Orphan, 'instance'>,
  launcherPath: string,
  log: Log,
): Promise<void> {
  const hierarchies = currentHierarchies();
  const orphan = await asOrphan(id, hierarchies);
  if (!orphan) return;
  const cgroups = createCgroups(id, hierarchies);
  for (const sandbox of await cgroups.ids()) await cgroups.destroy(sandbox);
  const runDir = runDirOf(id);
  const dataDir = orphan.dataDir ?? '/nonexistent';
  const nothing = { egressPath: '', poolSize: 0, network: 'nat' } as const;
  await cgroups.purge();
  await createServiceGroup(id, hierarchies).leave();
  // Another instance may have the place of its data directory by now, and a volume there.
  if (!existsSync(join(dataDir, 'instance'))) await removeDiskStore(dataDir, log);
  // Last before the folder: the slots' folder notes the data directory, without which this is no orphan any more.
  await createSlots({ ...nothing, launcherPath, instanceId: id, runDir, dataDir, log }).purge();
  await rm(runDir, { recursive: true, force: true });
}

async function asOrphan(id: string, hierarchies: Hierarchy[]): Promise<Orphan | null> {
  const runDir = runDirOf(id);
  if (isAlive({ runDir })) return null;
  const cgroups = createCgroups(id, hierarchies);
  const machines = await runningIn(cgroups);
  const dataDir = ownerOf({ runDir }) ?? lockedFrom(id);
  if (!existsSync(runDir)) {
    const mayLiveElsewhere = machines > 0 || hasFence(id, hierarchies);
    return mayLiveElsewhere ? null : { instance: id, dataDir, machines };
  }
  if (dataDir === null || belongsTo(dataDir, id)) return null;
  return { instance: id, dataDir, machines };
}

async function runningIn(cgroups: Cgroups): Promise<number> {
  let running = 0;
  for (const sandbox of await cgroups.ids()) {
    if ((await cgroups.processes(sandbox)).length > 0) running++;
  }
  return running;
}

function belongsTo(dataDir: string, id: string): boolean {
  const file = join(dataDir, 'instance');
  return existsSync(file) && readFileSync(file, 'utf8').trim() === id;
}

function hasFence(id: string, hierarchies: Hierarchy[]): boolean {
  return hierarchies.some(({ mountpoint }) =>
    foldersIn(`${mountpoint}/sandhaven-${id}-helpers`).some((name) => /^[0-9a-z]{8}$/.test(name)),
  );
}

/** Returns the ids of all instances with any visible trace, running or not. */
async function instancesSeen(hierarchies: Hierarchy[]): Promise<string[]> {
  const named = (names: string[], pattern: RegExp) => names.flatMap((name) => pattern.exec(name)?.[1] ?? []);
  const groups = hierarchies.flatMap(({ mountpoint }) => foldersIn(mountpoint));
  const links = [...readFileSync('/proc/net/dev', 'utf8').matchAll(hostLink)].map(([, id = '']) => id);
  return [
    ...new Set([
      ...named(foldersIn('/run'), runFolder),
      ...named(groups, machinesGroup),
      ...allLocks().map(({ instance }) => instance.id),
      ...links,
      ...named(
        (await listChains()).map(({ table }) => table),
        firewallTable,
      ),
    ]),
  ].sort();
}

function lockedFrom(id: string): string | null {
  return allLocks().find(({ instance }) => instance.id === id)?.instance.dataDir ?? null;
}

function foldersIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

function currentHierarchies(): Hierarchy[] {
  return parseHierarchies(readFileSync('/proc/self/mountinfo', 'utf8'));
}

function runDirOf(id: string): string {
  return `/run/sandhaven-${id}`;
}
