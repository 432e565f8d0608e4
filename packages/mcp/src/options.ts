/** Reads the command line and the environment: the service, its key, and what is asked of it. */
import { parseArgs } from 'node:util';
import type { Bounds } from './bounds.ts';
import { Failure } from './failure.ts';
import { readKey } from './key.ts';

export interface Options {
  /** Of MCP, with the chosen toolsets. */
  url: URL;
  key: string;
  team: string | undefined;
}

export type Environment = Record<string, string | undefined>;

const SEE_HELP = 'See sandhaven-mcp --help.';

const flags = {
  url: { type: 'string' },
  'api-key-file': { type: 'string' },
  toolsets: { type: 'string' },
  team: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const;

export type Parsed = ReturnType<typeof parseFlags>;

/** Throws a Failure for what is no flag, and for a key, which every user of the computer would see there. */
export function parseFlags(argv: string[]) {
  if (argv.some((argument) => /^--api-key(=|$)/.test(argument))) {
    throw new Failure(
      'invalid_argument',
      'A key on the command line can be read by every user of this computer.',
      'Set SANDBOX_API_KEY, or name a file with --api-key-file.',
    );
  }
  try {
    return parseArgs({ args: argv, options: flags, allowPositionals: false }).values;
  } catch (error) {
    throw new Failure('invalid_argument', `${(error as Error).message.split('. ', 1)[0]}.`, SEE_HELP);
  }
}

/** Rejects with a Failure for what is missing or not valid. */
export async function optionsOf(values: Parsed, env: Environment, bounds: Bounds): Promise<Options> {
  const named = values.url || env['SANDBOX_API_URL'];
  const url = mcpUrl(named || env['SANDHAVEN_URL'] || '');
  const toolsets = values.toolsets || env['SANDHAVEN_TOOLSETS'];
  if (toolsets) url.searchParams.set('toolsets', toolsets);
  const team = values.team || env['SANDHAVEN_TEAM'] || undefined;
  if (team !== undefined && !/^[!-~]{1,320}$/.test(team)) {
    throw new Failure('invalid_argument', 'The team is neither a name nor an id.', SEE_HELP);
  }
  return { url, key: await readKey(values['api-key-file'], env, !named, bounds.keyBytes), team };
}

/** Takes the address of the service, and that of its MCP, which the page shows. */
function mcpUrl(text: string): URL {
  if (text === '') {
    throw new Failure(
      'invalid_argument',
      'There is no address of a service.',
      'Set SANDBOX_API_URL, or give --url, such as https://sandboxes.example.org.',
    );
  }
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new Failure(
      'invalid_argument',
      'SANDBOX_API_URL or --url is not the address of a service.',
      'Give one such as https://sandboxes.example.org, without a key, a question mark or a fragment.',
    );
  }
  url.pathname = `${url.pathname.replace(/\/+$/, '').replace(/\/mcp$/, '')}/mcp`;
  return url;
}

const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Returns whether others on the way could read the key. */
export function isReadable({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && !loopback.test(hostname);
}
