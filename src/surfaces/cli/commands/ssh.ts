/**
 * `sandhaven ssh`: replaces itself with the host's own ssh, logged in to a sandbox, with the host key pinned. It
 * writes nothing to known_hosts and starts no child.
 */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createSshAccess } from '../../../catalog/access.ts';
import { home } from '../../../home.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { createClient } from '../client.ts';
import { connectionOf } from '../connection.ts';
import { commonFlags, flagIsSet, parseKnownFlags, usageError } from '../flags.ts';
import { commonHelp } from '../help.ts';
import type { CliIo, Command } from '../io.ts';
import { printProblem } from '../output.ts';

const ASKPASS = join(home, 'bin/sandhaven-askpass');
/** One working day: the connection ends with its token. */
const EXPIRES_IN_MINUTES = 12 * 60;

const help = `Usage: sandhaven ssh SANDBOX [-- SSH-ARGUMENT …]

Logs in to a sandbox with the machine's own ssh. Arguments after -- go to ssh: a command, or
flags and then a command. The access ends after ${EXPIRES_IN_MINUTES / 60} hours.

${commonHelp}`;

export const ssh: Command = {
  summary: 'log in to a sandbox',
  shape: () => ({ takes: ['sandbox'] }),
  async run(argv, io) {
    const flags = parseKnownFlags(argv, commonFlags);
    if (flagIsSet(flags, 'help')) {
      io.stdout.write(help);
      return 0;
    }
    const [sandbox, ...others] = flags.positionals;
    if (sandbox === undefined) throw usageError('No sandbox is named.', '`sandhaven ls` lists them.');
    if (others.length > 0) throw usageError('Arguments for ssh come after --.');
    const program = findProgram('ssh', io);
    const client = createClient(await connectionOf(flags, io));
    const parameters = { sandbox, expires_in_minutes: EXPIRES_IN_MINUTES };
    const { result, problem } = await client(createSshAccess, parameters, { signal: io.signal });
    if (problem) return printProblem(problem, flagIsSet(flags, 'json'), io);
    const args = ['ssh', ...sshArguments(result), ...(flags.rest ?? [])];
    if (!process.execve) throw unusable('This Node has no process.execve.');
    process.execve(program, args, { ...definedOnly(io.env), ...answering(result) });
    return 0;
  },
};

/** KnownHostsCommand replaces a file that would have to be removed again. */
function sshArguments(access: Record<string, unknown>): string[] {
  const { host, port, username, host_key } = access;
  const known = `/bin/echo [${host}]:${port} ${host_key}`;
  const options = {
    KnownHostsCommand: known,
    UserKnownHostsFile: '/dev/null',
    GlobalKnownHostsFile: '/dev/null',
    StrictHostKeyChecking: 'yes',
    // The user's own keys are of no use there, so none is offered.
    PubkeyAuthentication: 'no',
    PreferredAuthentications: 'password',
    NumberOfPasswordPrompts: '1',
  };
  const set = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  return [...set, '-p', String(port), '-l', String(username), String(host)];
}

/** Answers the password prompt with the token from a program of ours, so that it is no argument of ssh. */
function answering({ access_token }: Record<string, unknown>): Record<string, string> {
  return {
    SSH_ASKPASS: ASKPASS,
    SSH_ASKPASS_REQUIRE: 'force',
    SANDHAVEN_SSH_TOKEN: String(access_token),
  };
}

function findProgram(name: string, { env }: CliIo): string {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (found) return found;
  throw unusable(`The program ${name} is not on this machine.`);
}

function unusable(detail: string): SandhavenError {
  return new SandhavenError('failed_precondition', detail, {
    hint: 'Call Sandbox.CreateSshAccess, and use its command with an SSH client of your own.',
  });
}

function definedOnly(env: CliIo['env']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
