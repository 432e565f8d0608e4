/** Finds the API key: in the environment, or in a file. */
import { open } from 'node:fs/promises';
import { Failure } from './failure.ts';
import type { Environment } from './options.ts';

const HINT = 'Set SANDBOX_API_KEY, or name a file that holds the key with --api-key-file.';

/**
 * Rejects with a Failure, which never quotes the key.
 * @param isAlias The address is that of SANDHAVEN_URL: a key for it comes first, as SANDBOX_API_KEY may be for another.
 */
export async function readKey(
  flag: string | undefined,
  env: Environment,
  isAlias: boolean,
  maxBytes: number,
): Promise<string> {
  const file = flag || env['SANDHAVEN_API_KEY_FILE'];
  const [pair, alias] = [env['SANDBOX_API_KEY'], env['SANDHAVEN_API_KEY']];
  const key = flag ? '' : isAlias ? alias || (file ? '' : pair) : pair || alias;
  const found = (key || (file ? await inFile(file, maxBytes) : '')).trim();
  if (found === '') throw new Failure('unauthenticated', 'There is no API key.', HINT);
  if (!/^[!-~]+$/.test(found)) {
    throw new Failure('unauthenticated', 'The API key has characters that no key has.', HINT);
  }
  return found;
}

async function inFile(path: string, maxBytes: number): Promise<string> {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(maxBytes + 1) });
      if (bytesRead > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`);
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    throw new Failure('unauthenticated', `The file with the API key cannot be read: ${reason}.`, HINT);
  }
}
