/** The folder that holds all that a service keeps: what lies where in it, and who may look inside. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SandhavenError } from '../model/errors.ts';
import { newApiKey, randomText } from '../model/ids.ts';
import { readOrCreate, replaceFile } from './durable-file.ts';

export interface DataDirectory {
  /** Absolute. */
  path: string;
  /** 6 of [0-9a-z]; part of every name that this service gives out on the machine. */
  instance: string;
  databaseFile: string;
  secretKeyFile: string;
  apiKeyFile: string;
  sshHostKeyFile: string;
  auditCheckpointFile: string;
}

const instancePattern = /^[0-9a-z]{6}$/;

/**
 * Creates what is missing of the directory (mode 0700) and of its instance id.
 * Fails with `failed_precondition` on a directory in use that other users can enter.
 */
export function openDataDirectory(directory: string): DataDirectory {
  const path = resolve(directory);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  keepPrivate(path);
  return {
    path,
    instance: instanceOf(join(path, 'instance')),
    databaseFile: join(path, 'sandhaven.db'),
    secretKeyFile: join(path, 'secret.key'),
    apiKeyFile: join(path, 'api-key'),
    sshHostKeyFile: join(path, 'ssh-host-key'),
    auditCheckpointFile: join(path, 'audit-checkpoint'),
  };
}

/**
 * One that a service has made. Makes nothing. Fails with `failed_precondition` where there is none, or where other users
 * can enter it.
 */
export function openExistingDataDirectory(directory: string): DataDirectory {
  if (existsSync(join(directory, 'instance'))) return openDataDirectory(directory);
  throw new SandhavenError(
    'failed_precondition',
    `${resolve(directory)} is no data directory of a service.`,
    {
      hint: 'Nothing was changed. Give the one that `up` was started with: --data-dir.',
    },
  );
}

/** The id in a data directory; null where there is none, or no valid one. */
export function instanceIn(directory: string): string | null {
  const file = join(directory, 'instance');
  const instance = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  return instancePattern.test(instance) ? instance : null;
}

/** The API key in the file; a new one, written there first, when there is none. */
export function readOrCreateApiKey(file: string): string {
  return readOrCreate(file, () => line(newApiKey()))
    .toString()
    .trim();
}

/** Keeps a key that the operator gave. */
export function writeApiKey(file: string, apiKey: string): void {
  replaceFile(file, line(apiKey));
}

/** An empty directory is made private; one with content may be somebody's own, and is left as it is. */
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
