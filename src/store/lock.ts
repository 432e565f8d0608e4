/**
 * Lock that admits one service per data directory: SQLite's exclusive lock on a file of its own. The kernel releases
 * it at every end of the process, and no child process inherits it.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SandhavenError } from '../model/errors.ts';
import { createPrivately, isBusy } from './sqlite/database.ts';

export interface DataDirectoryLock {
  release(): void;
}

/** Returns true while a service holds the lock. Creates nothing. */
export function isLocked(directory: string): boolean {
  const file = join(directory, 'service.lock');
  if (!existsSync(file)) return false;
  const connection = new DatabaseSync(file, { timeout: 0 });
  try {
    connection.exec('BEGIN EXCLUSIVE');
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    connection.close();
  }
}

/** Keeps lock connections referenced: the garbage collector closes an unreferenced one and releases its lock. */
const held = new Set<DatabaseSync>();

/** Takes the lock; fails at once with `failed_precondition` when another service holds it. */
export function lockDataDirectory(directory: string): DataDirectoryLock {
  const file = join(directory, 'service.lock');
  createPrivately(file);
  const connection = new DatabaseSync(file, { timeout: 0 });
  try {
    connection.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;');
  } catch (error) {
    connection.close();
    if (!isBusy(error)) throw error;
    throw new SandhavenError(
      'failed_precondition',
      `Another Sandhaven service uses the data directory ${directory}.`,
      { hint: 'Stop that service, or give this one a directory of its own with --data-dir.' },
    );
  }
  held.add(connection);
  return {
    release: () => {
      if (held.delete(connection)) connection.close();
    },
  };
}
