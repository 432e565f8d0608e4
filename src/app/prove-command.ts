/** `sandhaven prove`: the proof of `up --prove`, of a service that runs on this machine. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SandhavenError } from '../model/errors.ts';
import { usageError } from '../surfaces/cli/flags.ts';
import type { CliIo } from '../surfaces/cli/io.ts';
import { reachable } from './options/announce.ts';
import { parseUpOptions, type UpOptions } from './options/up-options.ts';
import { prove } from './prove.ts';

const help = `Usage: sandhaven prove

Creates a sandbox on the service of this machine, runs code in it and deletes it. Finds the service as \`up\` was
configured: by the environment and by the file that SANDHAVEN_CONFIG names. The key is SANDBOX_API_KEY, else api-key in the
data directory. Exit status 7 when the service does not answer or a step fails.
`;

/** @returns the exit status */
export async function proveCommand(argv: string[], { env, stdout }: CliIo): Promise<number> {
  if (argv.includes('--help') || argv.includes('-h')) {
    stdout.write(help);
    return 0;
  }
  if (argv.length > 0)
    throw usageError('`sandhaven prove` takes no arguments.', 'See sandhaven prove --help.');
  const options = parseUpOptions([], env);
  const url = urlOf(options);
  const apiKey = env['SANDBOX_API_KEY'] || (await readKey(options.dataDir));
  const chain = options.tls === null ? undefined : await readFile(options.tls.certFile, 'utf8');
  const proof = await prove(url, apiKey, chain).catch((error: unknown) => {
    throw error instanceof SandhavenError ? error : unreachable(url, error);
  });
  stdout.write(`${proof}\n`);
  return 0;
}

function urlOf({ listen, tls }: UpOptions): string {
  const host = reachable(listen.host);
  const name = host.includes(':') ? `[${host}]` : host;
  return `${tls === null ? 'http' : 'https'}://${name}:${listen.port}`;
}

async function readKey(dataDir: string): Promise<string> {
  const file = join(dataDir, 'api-key');
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch {
    throw new SandhavenError('unauthenticated', `SANDBOX_API_KEY is not set, and ${file} cannot be read.`, {
      hint: 'Run it as root, on the machine of the service.',
    });
  }
}

function unreachable(url: string, error: unknown): SandhavenError {
  return new SandhavenError(
    'unavailable',
    `No service answers at ${url}.`,
    { hint: 'Start it with `systemctl start sandhaven` or `sandhaven up`.' },
    error,
  );
}
