/**
 * Finds the service and its key: flags, then the environment, then the chosen context, then the service's own key file.
 * Keys never come from the command line, which every user of the host can read, and a stored key goes to no other
 * origin than the one that it was stored for.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SandhavenError } from '../../model/errors.ts';
import { isOwnerReference } from '../../model/team.ts';
import { assertNothingElse, chosenContext, isLoopback, type NamedContext } from './contexts.ts';
import { flagValue, type ParsedFlags } from './flags.ts';
import type { CliIo } from './io.ts';

export interface Connection {
  /** Without a trailing slash. */
  url: string;
  apiKey: string;
  /** Team to act for; absent for none. */
  team?: string;
}

/** Headers of every request: the key, and the team that it acts for. */
export function headersOf({
  apiKey,
  team,
}: Pick<Connection, 'team'> & { apiKey: string | null }): Record<string, string> {
  return {
    ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
    ...(team === undefined ? {} : { 'sandhaven-team': team }),
  };
}

export const DEFAULT_URL = 'http://127.0.0.1:7420';
export const DEFAULT_DATA_DIR = '/var/lib/sandhaven';

/** Rejects with `invalid_argument` for an invalid URL, with `unauthenticated` without a key. */
export async function connectionOf(flags: ParsedFlags, io: Pick<CliIo, 'env'>): Promise<Connection> {
  const { env } = io;
  const named = flagValue(flags, 'context');
  if (named !== undefined) assertNothingElse(io, named);
  const dataDir = flagValue(flags, 'data-dir');
  const url = flagValue(flags, 'url') || env['SANDBOX_API_URL'];
  const apiKey = env['SANDBOX_API_KEY'];
  // A key of the environment goes to no address that the environment does not name, except this machine's own.
  const context =
    apiKey || (dataDir !== undefined && named === undefined)
      ? null
      : await chosenContext(io, named ?? (env['SANDHAVEN_CONTEXT'] || undefined));
  const found = await connection({ url, dataDir: dataDir ?? env['SANDHAVEN_DATA_DIR'], apiKey, context });
  const isOfContext = context !== null && found.apiKey === context.key;
  const team = teamOf(flags, env) ?? (isOfContext ? context.team : undefined);
  return team === undefined ? found : { ...found, team };
}

/** Returns the team that flag or environment name. Throws `invalid_argument` for what no header carries. */
export function teamOf(flags: ParsedFlags, env: CliIo['env']): string | undefined {
  const team = flagValue(flags, 'team') || env['SANDHAVEN_TEAM'] || undefined;
  if (team === undefined || isOwnerReference(team)) return team;
  throw new SandhavenError('invalid_argument', `'${team}' is not the name of a team or a user.`, {
    parameter: 'team',
    hint: '`sandhaven teams` lists the teams that you are in.',
  });
}

/** For a surface without flags. */
export function connectionWithoutFlags(env: CliIo['env']): Promise<Connection> {
  return connectionOf({ values: new Map(), positionals: [], rest: null, unknown: [] }, { env });
}

interface Given {
  url: string | undefined;
  dataDir: string | undefined;
  apiKey: string | undefined;
  context: NamedContext | null;
}

async function connection({ url: given, dataDir, apiKey, context }: Given): Promise<Connection> {
  const url = URL.parse(given || context?.url || DEFAULT_URL);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new SandhavenError('invalid_argument', `'${given}' is not the URL of a service.`, {
      parameter: 'url',
      hint: `Give one such as ${DEFAULT_URL}, as --url or SANDBOX_API_URL.`,
    });
  }
  const address = url.href.replace(/\/+$/, '');
  if (apiKey) return { url: address, apiKey };
  if (context && new URL(context.url).origin === url.origin) return { url: address, apiKey: context.key };
  // The file's key opens this host's service only, and must not be sent elsewhere.
  if (!isLoopback(url)) {
    const other = context
      ? `, and the key of context '${context.name}' is for ${new URL(context.url).origin}`
      : '';
    throw noKey(`SANDBOX_API_KEY is not set${other}.`, address);
  }
  const file = join(dataDir || DEFAULT_DATA_DIR, 'api-key');
  try {
    return { url: address, apiKey: (await readFile(file, 'utf8')).trim() };
  } catch {
    throw noKey(`SANDBOX_API_KEY is not set, and ${file} cannot be read.`, address);
  }
}

function noKey(detail: string, address: string): SandhavenError {
  return new SandhavenError('unauthenticated', detail, {
    hint:
      `Log in with \`sandhaven login ${address}\`, set SANDBOX_API_KEY, or name the service's data directory ` +
      'with --data-dir.',
  });
}

interface Explanation {
  reason: string;
  hint: string;
}

/** Explains a service that gives no answer of its own: nobody listening, the other protocol, an unknown certificate. */
export function unreachable(url: string, error: unknown): SandhavenError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = (cause as { code?: unknown } | null)?.code;
  const { reason, hint } = explanationOf(cause, typeof code === 'string' ? code : '', url);
  return new SandhavenError('unavailable', `The service at ${url} cannot be reached: ${reason}.`, { hint });
}

function explanationOf(cause: unknown, code: string, url: string): Explanation {
  const message = (cause instanceof Error ? cause.message : String(cause)).trim().replace(/\.$/, '');
  if (message.startsWith('This port speaks TLS')) {
    return { reason: 'the port speaks TLS', hint: `Use ${url.replace('http:', 'https:')}.` };
  }
  if (plainHttpCodes.has(code)) {
    return { reason: 'the port speaks plain HTTP', hint: `Use ${url.replace('https:', 'http:')}.` };
  }
  if (/CERT|SELF_SIGNED|ALTNAME/.test(code)) {
    return {
      reason: `its certificate is not trusted (${message})`,
      hint: 'Use a name that the certificate holds, and name the file of its authority in NODE_EXTRA_CA_CERTS.',
    };
  }
  return {
    reason: message,
    hint: 'Start it with `sandhaven up`, or give its address with SANDBOX_API_URL or --url.',
  };
}

/** OpenSSL's errors for the beginning of an HTTP response. */
const plainHttpCodes = new Set([
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'ERR_SSL_HTTP_REQUEST',
]);
