/**
 * Locales that a client names and its sandbox lacks. With one of those the C library falls back to ASCII: programs escape
 * file names, and perl warns at every command.
 *
 * The sandbox's own C library says what is there, since names have several spellings, files several places, and musl takes any
 * name. A sandbox that cannot be asked, since it has no `locale`, keeps what the client names.
 */
import type { AgentProcesses } from '../../../control/ports/index.ts';
import { limits } from '../../../model/limits.ts';

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

export interface LocalePlace {
  agent: Pick<AgentProcesses, 'openProcess'>;
  /** Names the sandbox to the agent link. */
  key: string;
  /** Environment of the sandbox's processes. */
  env: Record<string, string>;
  signal: AbortSignal;
}

/** Returns the variables without those that name a locale which the sandbox lacks. */
export async function withoutMissingLocales(
  variables: Record<string, string>,
  place: LocalePlace,
): Promise<Record<string, string>> {
  const entries = Object.entries(variables);
  const names = [...new Set(entries.filter(([key]) => NAMES_A_LOCALE.test(key)).map(([, name]) => name))];
  if (names.length === 0) return variables;
  const missing = await missingOf(names, place).catch(() => new Set<string>());
  return Object.fromEntries(entries.filter(([key, name]) => !NAMES_A_LOCALE.test(key) || !missing.has(name)));
}

async function missingOf(names: string[], { agent, key, env, signal }: LocalePlace): Promise<Set<string>> {
  const argv = ['sh', '-c', FIND_MISSING, 'sh', ...names];
  const until = AbortSignal.any([signal, AbortSignal.timeout(limits.ssh.localesMs)]);
  const process = await agent.openProcess(key, { argv, cwd: '/', env }, until);
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
