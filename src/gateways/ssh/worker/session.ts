/** Serves one session channel: a client's requests before it names a program, and that program. */
import type { Duplex } from 'node:stream';
import type { Connection, ServerChannel, Session } from 'ssh2';
import type { AgentProcesses, AsUser, RunningProcess, TerminalSize } from '../../../control/ports/index.ts';
import { concerns, SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { failProgram, type ProgramPlace, runProgram, terminalSize } from './program.ts';
import { boundInput, whenClosed } from './ssh2-workarounds.ts';

const SHELLS = ['bash', 'sh'];
/** A client that may run anything can set anything; these are the variables that it intends for the other side. */
const VARIABLES = /^(?:LANG|LC_[A-Z]+|TERM|COLORTERM|NO_COLOR|TZ|GIT_[A-Z_]+)$/;

export interface SessionDependencies extends AsUser {
  connection: Connection;
  /** Transport of the connection. */
  stream: Duplex;
  agent: AgentProcesses;
  /** Names the sandbox to the agent link. */
  key: string;
  env: Record<string, string>;
  /** Reason that no program can run; null when they can. */
  refusal: string | null;
  /** Resolves when the connection is gone. */
  gone: Promise<void>;
  /** Programs of the whole connection; each stays until it has ended. */
  programs: Set<Promise<void>>;
}

/** Resolves when the client has closed the session, or is gone. */
export function serveSession(session: Session, parts: SessionDependencies): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    whenClosed(session, resolve);
    void parts.gone.then(resolve);
  });
  const served = new ServedSession(session, parts, closed);
  session.on('pty', (accept, _reject, { cols, rows, term }) => {
    served.terminal = terminalSize(cols, rows);
    served.set('TERM', term.slice(0, limits.ssh.terminalNameChars));
    accept?.();
  });
  session.on('window-change', (accept, _reject, { cols, rows }) => {
    if (served.terminal) served.terminal = terminalSize(cols, rows);
    accept?.();
  });
  session.on('env', (accept, reject, { key, val }) => {
    if (VARIABLES.test(key) && served.set(key, val)) accept?.();
    else reject?.();
  });
  session.on('shell', (accept) => served.shell(accept()));
  session.on('exec', (accept, _reject, { command }) => served.exec(accept(), command));
  session.on('subsystem', (accept, reject, { name }) => {
    if (name === 'sftp') served.sftp(accept());
    else reject();
  });
  return closed;
}

class ServedSession {
  terminal: TerminalSize | undefined;
  readonly #session: Session;
  readonly #parts: SessionDependencies;
  readonly #closed: Promise<void>;
  readonly #variables: Record<string, string> = {};

  constructor(session: Session, parts: SessionDependencies, closed: Promise<void>) {
    this.#session = session;
    this.#parts = parts;
    this.#closed = closed;
  }

  set(name: string, value: string): boolean {
    const { variables, variableBytes } = limits.ssh;
    if (value.includes('\0') || Buffer.byteLength(value) > variableBytes) return false;
    if (Object.keys(this.#variables).length >= variables) return false;
    this.#variables[name] = value;
    return true;
  }

  shell(channel: ServerChannel | undefined): void {
    this.#run(channel, (signal) => this.#open((shell) => [shell, '-l'], signal));
  }

  exec(channel: ServerChannel | undefined, command: string): void {
    this.#run(channel, (signal) => this.#open((shell) => [shell, '-c', command], signal));
  }

  sftp(channel: ServerChannel | undefined): void {
    const { agent, key, user } = this.#parts;
    this.#run(channel, (signal) => agent.openSftp(key, { user }, signal));
  }

  /** `channel` is undefined when the client has asked for a second program, or has gone. */
  #run(channel: ServerChannel | undefined, open: (signal: AbortSignal) => Promise<RunningProcess>): void {
    if (!channel) return;
    const { connection, stream, refusal, programs } = this.#parts;
    const place: ProgramPlace = { session: this.#session, channel, stream, closed: this.#closed };
    channel.on('error', () => {});
    boundInput(channel, connection);
    const program = (
      refusal === null ? runProgram(place, async (signal) => open(signal)) : failProgram(place, refusal)
    ).finally(() => programs.delete(program));
    programs.add(program);
  }

  async #open(argv: (shell: string) => string[], signal: AbortSignal): Promise<RunningProcess> {
    const { agent, key, user, env } = this.#parts;
    const variables = await withoutMissingLocales(this.#variables, { agent, key, user, env, signal });
    for (const shell of SHELLS) {
      const request = { user, argv: argv(shell), cwd: '.', env: this.#environment(shell, variables) };
      try {
        return await agent.openProcess(
          key,
          this.terminal ? { ...request, terminal: this.terminal } : request,
          signal,
        );
      } catch (error) {
        if (!concerns(error, 'interpreter')) throw error;
      }
    }
    throw new SandhavenError('failed_precondition', "The sandbox's image has neither bash nor sh.", {
      hint: 'Create the sandbox from an image that has a shell.',
    });
  }

  /** The client's address is hidden from the sandbox; programs only test for these variables' presence. */
  #environment(shell: string, variables: Record<string, string>): Record<string, string> {
    const { user, env } = this.#parts;
    const root = { USER: 'root', LOGNAME: 'root', SHELL: `/bin/${shell}` };
    return {
      ...(user === undefined ? root : {}),
      ...env,
      SSH_CLIENT: '127.0.0.1 0 22',
      SSH_CONNECTION: '127.0.0.1 0 127.0.0.1 22',
      ...(this.terminal ? { SSH_TTY: '/dev/tty', TERM: 'xterm' } : {}),
      ...variables,
    };
  }
}

const NAMES_A_LOCALE =
  /^(?:LANG|LC_(?:ADDRESS|ALL|COLLATE|CTYPE|IDENTIFICATION|MEASUREMENT|MESSAGES|MONETARY|NAME|NUMERIC|PAPER|TELEPHONE|TIME))$/;

/** Prints the place among the arguments of each that is no locale there; `locale` complains about those alone. */
const FIND_MISSING = `command -v locale >/dev/null || exit 0
at=0
for name; do
  [ -n "$name" ] && [ -z "$(LC_ALL="$name" locale charmap 2>&1 >/dev/null)" ] || echo "$at"
  at=$((at + 1))
done`;

/** A line for each of as many variables as a client may set. */
const OUTPUT_BYTES = 4 * limits.ssh.variables;

/**
 * Locales that a client names and its sandbox lacks. With one of those the C library falls back to ASCII: programs escape
 * file names, and perl warns at every command.
 *
 * The sandbox's own C library says what is there, since names have several spellings, files several places, and musl takes any
 * name. A sandbox that cannot be asked, since it has no `locale`, keeps what the client names.
 */
interface LocalePlace extends AsUser {
  agent: Pick<AgentProcesses, 'openProcess'>;
  /** Names the sandbox to the agent link. */
  key: string;
  /** Environment of the sandbox's processes. */
  env: Record<string, string>;
  signal: AbortSignal;
}

/** Returns the variables without those that name a locale which the sandbox lacks. */
async function withoutMissingLocales(
  variables: Record<string, string>,
  place: LocalePlace,
): Promise<Record<string, string>> {
  const entries = Object.entries(variables);
  const names = [...new Set(entries.filter(([key]) => NAMES_A_LOCALE.test(key)).map(([, name]) => name))];
  if (names.length === 0) return variables;
  const missing = await missingOf(names, place).catch(() => new Set<string>());
  return Object.fromEntries(entries.filter(([key, name]) => !NAMES_A_LOCALE.test(key) || !missing.has(name)));
}

async function missingOf(
  names: string[],
  { agent, key, user, env, signal }: LocalePlace,
): Promise<Set<string>> {
  const argv = ['sh', '-c', FIND_MISSING, 'sh', ...names];
  const until = AbortSignal.any([signal, AbortSignal.timeout(limits.ssh.localesMs)]);
  const process = await agent.openProcess(key, { user, argv, cwd: '/', env }, until);
  try {
    process.stdin.end();
    process.stderr.resume();
    let printed = '';
    for await (const chunk of process.stdout) {
      printed += chunk;
      if (printed.length > OUTPUT_BYTES) break;
    }
    return new Set(printed.split('\n').flatMap((at) => names[Number.parseInt(at, 10)] ?? []));
  } finally {
    process.close();
  }
}
