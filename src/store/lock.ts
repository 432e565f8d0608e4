/**
 * One service per data directory. The lock is SQLite's exclusive one on a file of its own: the kernel releases
 * it when the process ends, however it ends, and no process that the service starts inherits it.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SandhavenError } from '../model/errors.ts';
import { createPrivately, isBusy } from './sqlite/database.ts';

export interface DataDirectoryLock {
  release(): void;
}

/** Whether a service has the directory now. Makes nothing. */
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

/** A connection that nothing refers to is closed by the garbage collector, and its lock with it. */
const held = new Set<DatabaseSync>();

/** Fails at once with `failed_precondition` when another service has the directory. */
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
