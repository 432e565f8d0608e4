/** `sandhaven auth github`, or another provider's name: authorizes the service once for a person at a terminal, and reports the end. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Action } from '../../../administration/action.ts';
import {
  listAuthorizations,
  pollAuthorization,
  revokeAuthorization,
  startAuthorization,
} from '../../../administration/authorizations.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { providerNames } from '../../../model/provider.ts';
import { type AdminClient, createAdminClient } from '../client.ts';
import { connectionOf } from '../connection.ts';
import { commonFlags, flagIsSet, parseKnownFlags, usageError } from '../flags.ts';
import { commonHelp } from '../help.ts';
import type { CliIo, Command } from '../io.ts';
import { printable, printProblem, printRecords } from '../output.ts';

const helpOf = (
  provider: string,
) => `Usage: sandhaven auth ${provider} [--device | --browser | --status | --revoke] [--json]

Authorizes the service at the code-hosting provider, once, so that clone, pull and push of your
repositories there need no password.

  --device           by a code that you type in at the provider, from any machine (the default)
  --browser          by a URL that you open in a browser which reaches the service
  --status           show your authorization
  --revoke           revoke it

${commonHelp}`;

const ways = ['device', 'browser', 'status', 'revoke'] as const;
type Way = (typeof ways)[number];

/** @param others The plain actions of the same group. */
export function auth(others: Command): Command {
  return {
    summary: others.summary,
    ...(others.shape ? { shape: others.shape } : {}),
    async run(argv, io) {
      const [first, ...rest] = argv;
      if (!providerNames.some((name) => name === first)) {
        const general = first === undefined || first === '--help' || first === '-h';
        const status = await others.run(general ? ['--help'] : argv, io);
        if (general) io.stdout.write(`\nAt a terminal: sandhaven auth ${providerNames.join('|')} [--help]\n`);
        return status;
      }
      const flags = parseKnownFlags(rest, {
        ...commonFlags,
        device: { type: 'boolean' },
        browser: { type: 'boolean' },
        status: { type: 'boolean' },
        revoke: { type: 'boolean' },
      });
      if (flagIsSet(flags, 'help')) {
        io.stdout.write(helpOf(String(first)));
        return 0;
      }
      const chosen = ways.filter((way) => flagIsSet(flags, way));
      if (chosen.length > 1) throw usageError(`--${chosen.join(' and --')} exclude each other.`);
      const client = createAdminClient(await connectionOf(flags, io));
      return carryOut(chosen[0] ?? 'device', client, flagIsSet(flags, 'json'), io);
    },
  };
}

async function carryOut(way: Way, client: AdminClient, json: boolean, io: CliIo): Promise<number> {
  if (way === 'status') return plainly(listAuthorizations, client, json, io);
  if (way === 'revoke') return plainly(revokeAuthorization, client, json, io);
  const started = await client(startAuthorization, { method: way }, { signal: io.signal });
  if (started.problem) return printProblem(started.problem, json, io);
  const { authorization_id, authorization_url, user_code, interval_seconds } = started.result;
  const what = typeof user_code === 'string' ? ` and enter the code ${user_code}` : '';
  // Printed on standard error: with --json, standard output carries only the result.
  io.stderr.write(`${printable(`Open ${authorization_url}${what}.`)}\nWaiting for the authorization …\n`);
  for (let wait = Number(interval_seconds); ; ) {
    await sleep(wait * 1_000, undefined, { signal: io.signal });
    const polled = await client(pollAuthorization, { authorization_id }, { signal: io.signal });
    if (polled.problem) return printProblem(polled.problem, json, io);
    if (polled.result['status'] !== 'pending') return printOutcome(polled.result, json, io);
    wait = Number(polled.result['interval_seconds']);
  }
}

async function plainly(action: Action, client: AdminClient, json: boolean, io: CliIo): Promise<number> {
  const { result, problem } = await client(action, {}, { signal: io.signal });
  if (problem) return printProblem(problem, json, io);
  printRecords(action.rows?.(result) ?? null, result, json, io);
  return 0;
}

function printOutcome(result: Record<string, unknown>, json: boolean, io: CliIo): number {
  if (result['status'] === 'denied') throw new SandhavenError('permission_denied', String(result['reason']));
  if (result['status'] === 'expired') {
    throw new SandhavenError('timeout', 'The authorization was not granted in time.', {
      hint: 'Begin again.',
    });
  }
  const { login } = result['account'] as { login: string };
  io.stdout.write(json ? `${JSON.stringify(result)}\n` : `${printable(`Authorized as ${login}.`)}\n`);
  return 0;
}
