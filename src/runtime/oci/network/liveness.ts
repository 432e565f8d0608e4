/**
 * Whether the service of an instance runs: it holds a lock in its run folder that the kernel takes back when it
 * dies, however it dies. The lock is an SQLite transaction, since Node has none of its own.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SandhavenError } from '../../../model/errors.ts';
import { type Instance, slotsDir } from './plan.ts';

const busy = 5;

/** Holds the lock until it is disposed of. @throws `unavailable` when another process holds it. */
export function declareAlive(instance: Instance): Disposable {
  const lock = tryLock(instance);
  if (lock) return { [Symbol.dispose]: () => lock.close() };
  throw new SandhavenError('unavailable', 'Another process serves this instance already.', {
    hint: 'End the other service first.',
  });
}

export function isAlive(instance: Instance): boolean {
  if (!existsSync(pathOf(instance))) return false;
  const lock = tryLock(instance);
  lock?.close();
  return lock === null;
}

function tryLock(instance: Instance): DatabaseSync | null {
  const database = new DatabaseSync(pathOf(instance), { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === busy) return null;
    throw error;
  }
}

function pathOf(instance: Instance): string {
  return join(slotsDir(instance), 'alive');
}
