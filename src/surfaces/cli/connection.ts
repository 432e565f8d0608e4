/**
 * Finds the service and its key. Keys come from the environment or from the service's own key file, never
 * from the command line, which every user of the host can read.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SandhavenError } from '../../model/errors.ts';
import { flagValue, type ParsedFlags } from './flags.ts';
import type { CliIo } from './io.ts';

export interface Connection {
  /** Without a trailing slash. */
  url: string;
  apiKey: string;
}

export const DEFAULT_URL = 'http://127.0.0.1:7420';
export const DEFAULT_DATA_DIR = '/var/lib/sandhaven';

const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** The flags `url` and `data-dir` take precedence over SANDBOX_API_URL and SANDHAVEN_DATA_DIR. */
export function connectionOf(flags: ParsedFlags, { env }: Pick<CliIo, 'env'>): Promise<Connection> {
  return connection({
    url: flagValue(flags, 'url') ?? env['SANDBOX_API_URL'],
    dataDir: flagValue(flags, 'data-dir') ?? env['SANDHAVEN_DATA_DIR'],
    apiKey: env['SANDBOX_API_KEY'],
  });
}

/** Rejects with `invalid_argument` for an invalid URL, with `unauthenticated` without a key. */
export async function connection(given: {
  url: string | undefined;
  dataDir: string | undefined;
  apiKey: string | undefined;
}): Promise<Connection> {
  const url = URL.parse(given.url || DEFAULT_URL);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new SandhavenError('invalid_argument', `'${given.url}' is not the URL of a service.`, {
      parameter: 'url',
      hint: `Give one such as ${DEFAULT_URL}, as --url or SANDBOX_API_URL.`,
    });
  }
  const address = url.href.replace(/\/+$/, '');
  if (given.apiKey) return { url: address, apiKey: given.apiKey };
  // The file's key opens this host's service only, and must not be sent elsewhere.
  if (!loopback.test(url.hostname)) throw noKey('SANDBOX_API_KEY is not set.');
  const file = join(given.dataDir || DEFAULT_DATA_DIR, 'api-key');
  try {
    return { url: address, apiKey: (await readFile(file, 'utf8')).trim() };
  } catch {
    throw noKey(`SANDBOX_API_KEY is not set, and ${file} cannot be read.`);
  }
}

function noKey(detail: string): SandhavenError {
  return new SandhavenError('unauthenticated', detail, {
    hint: "Set SANDBOX_API_KEY, or name the service's data directory with --data-dir.",
  });
}
