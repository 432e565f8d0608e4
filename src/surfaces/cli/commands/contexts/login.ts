/** `sandhaven login`: stores the key of a service, once the service has accepted it. */
import { whoAmI } from '../../../../catalog/identity.ts';
import { SandhavenError } from '../../../../model/errors.ts';
import { createClient } from '../../client.ts';
import { teamOf } from '../../connection.ts';
import { contextName, readContexts, storedKey, writeContexts } from '../../contexts/context-file.ts';
import { deviceLogin } from '../../contexts/device-login.ts';
import { readHiddenLine } from '../../contexts/hidden-line.ts';
import { serviceUrl } from '../../contexts/service-url.ts';
import {
  commonFlags,
  type FlagSpec,
  flagIsSet,
  flagValue,
  parseKnownFlags,
  usageError,
} from '../../flags.ts';
import { commonHelp } from '../../help.ts';
import type { CliIo, Command } from '../../io.ts';
import { printProblem } from '../../output.ts';
import { printable } from '../../render.ts';

const help = `Usage: sandhaven login URL [--context NAME] [--team NAME]
       sandhaven login --key URL
       sandhaven login URL < FILE

Shows a link and a code, which you approve on the page of the service, in a browser on this machine or on
any other; the service then gives this machine a key of its own, for 90 days. With --key it asks for an API key
without showing it; without a terminal it reads the key from standard input. The key is checked, and stored
for this service alone, in a file that only you can read. Commands use the service from then on, unless
SANDBOX_API_URL or SANDBOX_API_KEY is set. The context is named after the host of URL unless it is given a
name. With --team, commands act for that team.

${commonHelp}`;

const flagSpecs = {
  ...commonFlags,
  key: { type: 'boolean' },
} satisfies Record<string, FlagSpec>;

export const login: Command = {
  summary: 'get or store the key of a service, and use the service',
  shape: () => ({ flags: { key: 'none' } }),
  async run(argv, io) {
    const flags = parseKnownFlags(argv, flagSpecs);
    if (flagIsSet(flags, 'help')) {
      io.stdout.write(help);
      return 0;
    }
    const [given, extra] = [...flags.positionals, ...(flags.rest ?? [])];
    if (extra !== undefined) {
      throw usageError('One argument is taken, the URL.', 'The key is asked for; it is never an argument.');
    }
    const url = urlOf(given);
    const name = nameOf(flagValue(flags, 'context') ?? (io.env['SANDHAVEN_CONTEXT'] || new URL(url).host));
    const before = await readContexts(io);
    const other = Object.hasOwn(before.contexts, name) ? before.contexts[name] : undefined;
    if (other && new URL(other.url).origin !== new URL(url).origin) {
      throw new SandhavenError('already_exists', `The context '${name}' is of ${other.url}.`, {
        hint: `Give another name with --context, or run \`sandhaven logout ${name}\`.`,
      });
    }
    const isTyped = flagIsSet(flags, 'key') || !io.stdin.isTTY;
    const apiKey = isTyped
      ? keyOf(await readHiddenLine(`API key of ${url}: `, io))
      : await deviceLogin(url, io);
    const json = flagIsSet(flags, 'json');
    const team = teamOf(flags, {});
    const acting = team === undefined ? {} : { team };
    const { result, problem } = await createClient({ url, apiKey, ...acting })(
      whoAmI,
      {},
      { signal: io.signal },
    );
    if (problem) return printProblem(problem, json, io);
    const contexts = { ...before.contexts, [name]: { url, key: apiKey, ...acting } };
    await writeContexts(io, { version: 1, current: name, contexts });
    report({ context: name, url, user_id: result['user_id'], name: result['name'] }, json, io);
    return 0;
  },
};

function report(result: Record<string, unknown>, json: boolean, { stdout, stderr, env }: CliIo): void {
  const { name, url, context } = result;
  const words = `Logged in to ${url} as ${name}. The context '${context}' is in use.`;
  stdout.write(json ? `${JSON.stringify(result)}\n` : `${printable(words)}\n`);
  warnOfEnvironment({ stderr, env });
}

/** The environment takes precedence over the context that was just chosen. */
export function warnOfEnvironment({ stderr, env }: Pick<CliIo, 'stderr' | 'env'>): void {
  for (const variable of ['SANDBOX_API_URL', 'SANDBOX_API_KEY'])
    if (env[variable])
      stderr.write(`${variable} is set, and takes precedence. Unset it to use the context.\n`);
}

function urlOf(given: string | undefined): string {
  if (given === undefined)
    throw usageError('No service is named.', 'sandhaven login https://sandhaven.example.org');
  const url = serviceUrl(given);
  if (url !== null) return url;
  if (URL.parse(given)?.protocol === 'http:') {
    throw usageError(
      'Plain http would show the key to the network.',
      `Use https, or forward a port: ssh -L 7420:127.0.0.1:7420 HOST, and log in to http://127.0.0.1:7420.`,
    );
  }
  // It may hold a password, so it is not repeated.
  throw usageError('That is not the URL of a service.', 'Give one such as https://sandhaven.example.org');
}

function nameOf(given: string): string {
  const checked = contextName.safeParse(given);
  if (checked.success) return checked.data;
  throw usageError(
    `The name of a context ${checked.error.issues[0]?.message}.`,
    'Give another with --context.',
  );
}

function keyOf(line: string): string {
  const checked = storedKey.safeParse(line.trim());
  if (checked.success) return checked.data;
  throw usageError(
    line.trim() === '' ? 'No key was given.' : `The key ${checked.error.issues[0]?.message}.`,
    'An admin makes one with `sandhaven keys create`; `sandhaven login URL` asks for one on the page.',
  );
}
