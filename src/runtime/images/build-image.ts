/** Builds the image of the document database into the cache, by the recipe of this checkout. */
import { existsSync } from 'node:fs';
import { readlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { home } from '../../home.ts';
import { SandhavenError } from '../../model/errors.ts';
import { startProgram } from '../start-program.ts';
import { defaultCacheDir } from './cache-dir.ts';

const LOCKED = 'setup/locked.sh';
const RECIPE = 'setup/documentdb-image.ts';
/** The lock of `make documentdb-image`. */
const SETUP_LOCK = 'documentdb';

/** Returns the recipe name of the image in the cache; null without an image. */
export function builtRecipe(): Promise<string | null> {
  return readlink(join(defaultCacheDir(), 'documentdb/current')).catch(() => null);
}

/** Does nothing when the image exists. Aborting ends the build; the next one removes its remains. */
export async function buildDocumentDbImage(
  onOutput: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  if (![LOCKED, RECIPE].every((file) => existsSync(join(home, file)))) {
    throw unbuilt('This installation has no recipe for the image of the document database.');
  }
  // A process group of its own, so that the whole build can be ended at once.
  const child = await startProgram(LOCKED, [process.execPath, RECIPE], {
    cwd: home,
    detached: true,
    env: { HOME: homedir(), ...process.env, SETUP_LOCK },
  }).catch((error: Error) => {
    throw unbuilt(`The image of the document database could not be built: ${error.message}.`);
  });
  child.stdout.setEncoding('utf8').on('data', onOutput);
  child.stderr.setEncoding('utf8').on('data', onOutput);
  const end = () => {
    // `child` shows whether it still runs: no other process gets its id before Node has waited for it.
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      process.kill(-child.pid, 'SIGTERM');
    }
  };
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  try {
    const status = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    signal.throwIfAborted();
    if (status !== 0) throw unbuilt('The image of the document database could not be built.');
  } finally {
    signal.removeEventListener('abort', end);
  }
}

function unbuilt(detail: string): SandhavenError {
  return new SandhavenError('failed_precondition', detail, {
    hint: 'Run `make documentdb-image` in the checkout of the service, as root, or use --image mongo:8.',
  });
}
