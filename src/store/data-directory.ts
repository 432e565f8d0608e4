/** The data directory of a service: its layout, its instance id and its access mode. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SandhavenError } from '../model/errors.ts';
import { newApiKey, randomText } from '../model/ids.ts';
import { readOrCreate } from './files/durable-file.ts';
import { createPrivately, isBusy } from './sqlite/database.ts';

export interface DataDirectory {
  /** Absolute. */
  path: string;
  /** 6 of [0-9a-z]; part of the name of everything that the service creates on the host. */
  instance: string;
  databaseFile: string;
  /** Names the PostgreSQL database of the store; missing when the store is `databaseFile`. */
  storeAddressFile: string;
  secretKeyFile: string;
  apiKeyFile: string;
  /** Of versions that did not keep the key in the store. */
  sshHostKeyFile: string;
  auditCheckpointFile: string;
  /** Network traffic of the day. */
  trafficFile: string;
}

const instancePattern = /^[0-9a-z]{6}$/;

/**
 * Opens a data directory; creates the directory (mode 0700) and its instance id when missing.
 * Rejects a non-empty directory that other users can enter with `failed_precondition`.
 */
export function openDataDirectory(directory: string): DataDirectory {
  const path = resolve(directory);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  keepPrivate(path);
  return {
    path,
    instance: instanceOf(join(path, 'instance')),
    databaseFile: join(path, 'sandhaven.db'),
    storeAddressFile: join(path, 'store-address'),
    secretKeyFile: join(path, 'secret.key'),
    apiKeyFile: join(path, 'api-key'),
    sshHostKeyFile: join(path, 'ssh-host-key'),
    auditCheckpointFile: join(path, 'audit-checkpoint'),
    trafficFile: join(path, 'traffic'),
  };
}

/**
 * Opens an existing data directory; creates nothing. Rejects a missing one, and one that other users can enter, with
 * `failed_precondition`.
 */
export function openExistingDataDirectory(directory: string): DataDirectory {
  if (existsSync(join(directory, 'instance'))) return openDataDirectory(directory);
  throw new SandhavenError(
    'failed_precondition',
    `${resolve(directory)} is not the data directory of a service.`,
    {
      hint: 'Nothing was changed. Give the --data-dir that `up` was started with.',
    },
  );
}

/** Returns the instance id of a data directory; null when missing or invalid. */
export function instanceIn(directory: string): string | null {
  const file = join(directory, 'instance');
  const instance = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  return instancePattern.test(instance) ? instance : null;
}

/** Returns the API key in the file; writes a new one when the file is missing. */
export function readOrCreateApiKey(file: string): string {
  return readOrCreate(file, () => line(newApiKey()))
    .toString()
    .trim();
}

/** Makes an empty directory private; rejects an open one with content, which may belong to another program. */
function keepPrivate(path: string): void {
  if ((statSync(path).mode & 0o077) === 0) return;
  if (readdirSync(path).length === 0) {
    chmodSync(path, 0o700);
    return;
  }
  throw new SandhavenError('failed_precondition', `Other users can enter the data directory ${path}.`, {
    hint: `Run: chmod 700 ${path} – or give another directory with --data-dir.`,
  });
}

function instanceOf(file: string): string {
  const instance = readOrCreate(file, () => line(randomText(6)))
    .toString()
    .trim();
  if (instancePattern.test(instance)) return instance;
  throw new SandhavenError('failed_precondition', `The file ${file} does not hold an instance id.`, {
    hint: 'Put back the one that belongs to this data directory; its sandboxes on this machine carry the id.',
  });
}

function line(text: string): Buffer {
  return Buffer.from(`${text}\n`);
}

/**
 * Lock that admits one service per data directory: SQLite's exclusive lock on a file of its own. The kernel releases
 * it at every end of the process, and no child process inherits it.
 */
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
