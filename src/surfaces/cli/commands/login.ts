/** `sandhaven login`: stores the key of a service, once the service has accepted it; `sandhaven logout` removes it. */
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { whoAmI } from '../../../catalog/identity.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { callOpenRoute, createClient } from '../client.ts';
import { teamOf } from '../connection.ts';
import {
  chosenContext,
  contextName,
  readContexts,
  serviceUrl,
  storedKey,
  writeContexts,
} from '../contexts.ts';
import { commonFlags, type FlagSpec, flagIsSet, flagValue, parseKnownFlags, usageError } from '../flags.ts';
import { commonHelp } from '../help.ts';
import type { CliIo, Command } from '../io.ts';
import { readHiddenLine } from '../io.ts';
import { printable, printProblem } from '../output.ts';

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
      throw new SandhavenError('already_exists', `The context '${name}' belongs to ${other.url}.`, {
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

const logoutHelp = `Usage: sandhaven logout [CONTEXT]

Removes a context and its key from this machine; without CONTEXT, the one in use. The key itself stays
valid: \`sandhaven keys revoke\` ends it.

${commonHelp}`;

/** `sandhaven logout`: removes a stored key. */
export const logout: Command = {
  summary: 'remove a stored key',
  shape: () => ({ takes: ['context'] }),
  async run(argv, io) {
    const flags = parseKnownFlags(argv, commonFlags);
    if (flagIsSet(flags, 'help')) {
      io.stdout.write(logoutHelp);
      return 0;
    }
    const [given, extra] = [...flags.positionals, ...(flags.rest ?? [])];
    if (extra !== undefined)
      throw usageError('One context is taken.', '`sandhaven context rm` takes several.');
    const named = given ?? flagValue(flags, 'context') ?? (io.env['SANDHAVEN_CONTEXT'] || undefined);
    const chosen = await chosenContext(io, named);
    if (!chosen) throw usageError('No context is in use.', '`sandhaven context ls` lists them.');
    await removeContext(chosen.name, io);
    const { name, url } = chosen;
    const words = `The key of ${url} is removed from this machine; it stays valid until it is revoked.`;
    const json = JSON.stringify({ context: name, url, removed: true });
    io.stdout.write(flagIsSet(flags, 'json') ? `${json}\n` : `${printable(words)}\n`);
    return 0;
  },
};

export async function removeContext(name: string, io: Pick<CliIo, 'env'>): Promise<void> {
  const { current, contexts } = await readContexts(io);
  const { [name]: _removed, ...others } = contexts;
  await writeContexts(io, { version: 1, current: current === name ? null : current, contexts: others });
}

const offer = z.looseObject({
  device_code: z.string().min(1).max(limits.signIn.secretChars),
  user_code: z.string().min(1).max(40),
  verification_uri: z.string().max(2_000),
  verification_uri_complete: z.string().max(2_000),
  expires_in: z.number().positive().max(86_400),
  interval: z.number().positive().max(60),
});

const answer = z.looseObject({ status: z.string(), api_key: z.string().optional() });

/**
 * Logs in through the service's page: shows a code, and waits until its user has approved it there (RFC 8628). The
 * machine needs no browser: any other device will do. Returns the new key. Rejects with what the service says, and on
 * the user's interrupt.
 */
async function deviceLogin(url: string, { stderr, signal }: CliIo): Promise<string> {
  const given = offer.parse(
    await callOpenRoute(url, '/v1/sign-in/device', { machine: machineName() }, signal),
  );
  stderr.write(`Open ${printable(given.verification_uri_complete)}\n`);
  stderr.write(`in any browser, and approve the code ${printable(given.user_code)} there.\n`);
  const deadline = performance.now() + given.expires_in * 1_000;
  while (performance.now() < deadline) {
    await sleep(given.interval * 1_000, undefined, { signal });
    const body = { device_code: given.device_code };
    const said = answer.parse(await callOpenRoute(url, '/v1/sign-in/device/answer', body, signal));
    if (said.api_key !== undefined) return said.api_key;
  }
  throw new SandhavenError('timeout', 'The code was not approved in time.', {
    hint: 'Run `sandhaven login` again.',
  });
}

/** Name by which the user knows it on the page. */
function machineName(): string {
  const name = hostname().replaceAll(/\p{C}/gu, '').slice(0, limits.deviceSignIn.machineChars);
  return name === '' ? 'a machine' : name;
}
