/**
 * Ownership of an instance on this host. Its service holds a lock in the run folder that the kernel releases when the
 * service dies, however it dies; the lock is an SQLite transaction, since Node has no file locks. A file beside it
 * names the instance's data directory, because a copy of that has the same id and would take over the machines.
 */
import { existsSync, mkdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SandhavenError } from '../../../model/errors.ts';
import { type Instance, slotsDir } from './plan.ts';

const busy = 5;
/** Time to wait for a program (such as `doctor`) that takes the lock for a moment to see whether a service lives. */
const QUESTION_MS = 250;
const RUNNING = 'A running service';

/**
 * Holds the instance for this process until disposed. Called before anything of the instance is touched.
 * @throws `failed_precondition` when another process serves it, or when it belongs to another data directory.
 */
export function declareAlive(instance: Instance): Disposable {
  const lock = lockOf(instance);
  try {
    const other = otherOwner(instance);
    if (other !== null) throw taken(instance, other);
    writeFileSync(ownerFile(instance), realpathSync(instance.dataDir), { mode: 0o600 });
  } catch (error) {
    lock.close();
    throw error;
  }
  return { [Symbol.dispose]: () => lock.close() };
}

/** Like `declareAlive` for a purge, which may come after the data directory has gone. */
export function declareEnding(instance: Instance): Disposable {
  const lock = lockOf(instance);
  return { [Symbol.dispose]: () => lock.close() };
}

/** Returns the error with which `declareAlive` would fail now, or null. Changes nothing. */
export function refusalOf(instance: Instance): SandhavenError | null {
  const who = isAlive(instance) ? RUNNING : otherOwner(instance);
  return who === null ? null : taken(instance, who);
}

/** Asks by a shared lock, so that several programs that ask at once do not take each other for the service. */
export function isAlive(instance: Pick<Instance, 'runDir'>): boolean {
  if (!existsSync(lockFile(instance))) return false;
  const lock = tryLock(instance, 'BEGIN; SELECT count(*) FROM sqlite_schema', 0);
  lock?.close();
  return lock === null;
}

/** Returns the data directory that the instance was last served from; null when none is noted. */
export function ownerOf(instance: Pick<Instance, 'runDir'>): string | null {
  try {
    return readFileSync(ownerFile(instance), 'utf8') || null;
  } catch {
    return null;
  }
}

/** Returns another data directory with this instance's id. A moved one is the same; a removed one has no claim. */
function otherOwner(instance: Instance): string | null {
  const owner = ownerOf(instance);
  if (owner === null || owner === realpathSync(instance.dataDir)) return null;
  try {
    const [then, now] = [statSync(owner), statSync(instance.dataDir)];
    if (then.dev === now.dev && then.ino === now.ino) return null;
    const id = readFileSync(join(owner, 'instance'), 'utf8').trim();
    return id === instance.id ? `The data directory ${owner}` : null;
  } catch {
    return null;
  }
}

function taken({ id, dataDir }: Instance, who: string): SandhavenError {
  return new SandhavenError('failed_precondition', `${who} has this data directory's instance id, ${id}.`, {
    hint:
      `Two directories with one id fight over the same sandboxes. If ${dataDir} is a copy that is to live on its own, ` +
      `delete ${join(dataDir, 'instance')}: it gets an id of its own. Otherwise end the other service first, or purge ` +
      'the other directory.',
  });
}

function lockOf(instance: Instance): DatabaseSync {
  mkdirSync(slotsDir(instance), { recursive: true, mode: 0o700 });
  const lock = tryLock(instance, 'BEGIN EXCLUSIVE', QUESTION_MS);
  if (!lock) throw taken(instance, RUNNING);
  return lock;
}

function tryLock(
  instance: Pick<Instance, 'runDir'>,
  transaction: string,
  patienceMs: number,
): DatabaseSync | null {
  const database = new DatabaseSync(lockFile(instance), { timeout: patienceMs });
  try {
    database.exec(transaction);
    return database;
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === busy) return null;
    throw error;
  }
}

function lockFile(instance: Pick<Instance, 'runDir'>): string {
  return join(slotsDir(instance), 'alive');
}

function ownerFile(instance: Pick<Instance, 'runDir'>): string {
  return join(slotsDir(instance), 'owner');
}
