/**
 * Holders of slots. Among the instances of this host a slot's number is locked: one file per number in /run/sandhaven/slots,
 * made before anything of the slot and removed after everything of it is gone. In an instance, a symbolic link named by the
 * sandbox points to the number that it holds.
 *
 * Files appear with their contents in one step. Decisions (whether a number is free or a lock unchanged) are made under one
 * host-wide mutex: an SQLite transaction, which the kernel ends with its process.
 */
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { limits } from '../../../model/limits.ts';
import { type Instance, slotsDir } from './plan.ts';

/** `gateway` slots give their address to an instance's DNS forwarder; no machine runs in them. */
export type Purpose = 'machine' | 'gateway';

export interface Lock {
  index: number;
  instance: Instance;
  /** Kernel id of the boot in which the lock was taken: links, pins and processes never outlive that boot. */
  bootId: string;
  /** Network namespace of its service, which holds its links, addresses and rules. */
  networkNamespace: string;
  purpose: Purpose;
}

export interface Holders {
  /** Reads the slot numbers by sandbox id, each time from the disk. */
  read(): Map<string, number>;
  add(sandboxId: string, index: number): void;
  remove(sandboxId: string): void;
}

export const machineDir = '/run/sandhaven';
const locksDir = join(machineDir, 'slots');
const mutexTimeoutMs = 5_000;
let bootId: string | null = null;
/** Numbers that were locked at the last look, and the state of their folder then. */
let seen = { state: '', locked: new Set<number>() };

/** No process outlives its boot, so it is read once. */
export function currentBootId(): string {
  bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return bootId;
}

export function currentNetworkNamespace(): string {
  return readlinkSync('/proc/self/ns/net');
}

/** Takes up to `count` free slots outside `unusable`, the lowest first; fewer when no more are free. */
export function takeLocks(
  instance: Instance,
  count: number,
  purpose: Purpose,
  unusable: Set<number> = new Set(),
): number[] {
  const origin = {
    ...{ instance, purpose },
    bootId: currentBootId(),
    networkNamespace: currentNetworkNamespace(),
  };
  return withMutex(() => {
    const indexes: number[] = [];
    // A kept listing may still have a number that another has just freed: only a new one says that none is left.
    for (const locked of [lockedIndexes, listedIndexes]) {
      if (indexes.length < count)
        indexes.push(...takeFrom(locked(), origin, count - indexes.length, unusable));
    }
    return indexes;
  });
}

function takeFrom(
  locked: Set<number>,
  origin: Omit<Lock, 'index'>,
  count: number,
  unusable: Set<number>,
): number[] {
  const indexes: number[] = [];
  for (let index = 0; index < limits.network.slots && indexes.length < count; index++) {
    if (locked.has(index) || unusable.has(index)) continue;
    if (writeLock({ index, ...origin })) indexes.push(index);
    locked.add(index);
  }
  seen = { state: folderState(), locked };
  return indexes;
}

/** Removes those locks that have not changed since they were read. */
export function freeLocks(locks: Pick<Lock, 'index' | 'instance' | 'bootId'>[]): void {
  withMutex(() => {
    const locked = lockedIndexes();
    for (const { index, instance, bootId } of locks) {
      const now = readLock(index);
      if (now?.instance.id !== instance.id || now.bootId !== bootId) continue;
      unlinkSync(pathOf(index));
      locked.delete(index);
    }
    seen = { state: folderState(), locked };
  });
}

export function locksOf(instanceId: string): Lock[] {
  return allLocks().filter(({ instance }) => instance.id === instanceId);
}

/** Returns every readable lock. Any other file stays and keeps its number from being used. */
export function allLocks(): Lock[] {
  return list().flatMap((index) => readLock(index) ?? []);
}

export function freeCount(): number {
  return Math.max(0, limits.network.slots - lockedIndexes().size);
}

/** Runs `work`, which must be short and synchronous, alone on this host. */
export function withMutex<T>(work: () => T): T {
  mkdirSync(locksDir, { recursive: true, mode: 0o700 });
  const database = new DatabaseSync(join(machineDir, 'mutex'), { timeout: mutexTimeoutMs });
  try {
    // Nothing is ever written in it: it needs no journal, which would be a file, made and removed each time.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return work();
  } finally {
    database.close();
  }
}

/**
 * Reads the folder again only after another's change of it, since each creation asks. A change within the same tick of the clock can
 * be missed, so a number that is not among them may be locked too, and one of them free.
 */
function lockedIndexes(): Set<number> {
  return seen.state === folderState() ? seen.locked : listedIndexes();
}

function listedIndexes(): Set<number> {
  seen = { state: folderState(), locked: new Set(list()) };
  return seen.locked;
}

/** In memory, as /run is, a folder's size counts its names: it tells changes within one tick of the clock apart. */
function folderState(): string {
  const { mtimeNs = null, size = null } = statSync(locksDir, { bigint: true, throwIfNoEntry: false }) ?? {};
  return `${mtimeNs} ${size}`;
}

function list(): number[] {
  try {
    return readdirSync(locksDir)
      .filter((name) => /^\d{1,5}$/.test(name))
      .map(Number);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Returns false where the number has a lock. */
function writeLock({ index, ...contents }: Lock): boolean {
  const draft = join(machineDir, 'lock.new');
  // A draft left by a process killed here is the same file as its lock: never write into it.
  rmSync(draft, { force: true });
  writeFileSync(draft, JSON.stringify(contents), { mode: 0o600 });
  try {
    linkSync(draft, pathOf(index));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft);
  }
}

function readLock(index: number): Lock | null {
  try {
    const { instance, bootId, networkNamespace, purpose } = JSON.parse(readFileSync(pathOf(index), 'utf8'));
    if (!/^[0-9a-z]{6}$/.test(instance.id)) return null;
    if (typeof instance.runDir !== 'string' || typeof instance.dataDir !== 'string') return null;
    return { index, instance, bootId, networkNamespace, purpose };
  } catch {
    return null;
  }
}

function pathOf(index: number): string {
  return join(locksDir, String(index));
}

/** Making and removing a link are single steps. The links outlive the service. */
export function createHolders(instance: Instance): Holders {
  const dir = join(slotsDir(instance), 'held');
  return {
    read() {
      mkdirSync(dir, { recursive: true, mode: 0o700 });
      return new Map(readdirSync(dir).map((id) => [id, Number(readlinkSync(join(dir, id)))]));
    },
    add(sandboxId, index) {
      symlinkSync(String(index), join(dir, sandboxId));
    },
    remove(sandboxId) {
      rmSync(join(dir, sandboxId), { force: true });
    },
  };
}
