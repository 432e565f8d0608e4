/** Sources of options: flags, the environment and the configuration file. A flag goes before a variable, that before the file. */
import { parseArgs } from 'node:util';
import { invalidArgument } from '../../model/errors.ts';
import { allFlags } from './all-flags.ts';
import { readConfigFile } from './config-file.ts';
import { environmentName } from './flag.ts';

export type Source =
  | { kind: 'flag'; name: string }
  | { kind: 'environment'; name: string }
  | { kind: 'file'; file: string; line: number };

export interface Given {
  text: string;
  source: Source;
}

export interface Sources {
  /** By the flag's name; options at their defaults are absent. */
  given: ReadonlyMap<string, Given>;
  /** The configuration file; null without one. */
  file: string | null;
  prove: boolean;
}

export const CONFIG_FLAG = 'config';

/**
 * Rejects unknown flags and keys with `invalid_argument`. An empty SANDHAVEN_CONFIG names no file; every other empty variable
 * is a value.
 */
export function readSources(argv: string[], env: NodeJS.ProcessEnv): Sources {
  const flags = parseFlags(argv);
  const names = Object.values(allFlags).map(({ name }) => name);
  const file = textOf(flags[CONFIG_FLAG]) ?? (env[environmentName(CONFIG_FLAG)] || null);
  const configured = file === null ? new Map() : readConfigFile(file, names);
  const given = new Map<string, Given>();
  for (const name of names) {
    const variable = environmentName(name);
    const [flag, ofEnvironment] = [textOf(flags[name]), env[variable]];
    const ofFile = configured.get(name);
    if (flag !== null) given.set(name, { text: flag, source: { kind: 'flag', name: `--${name}` } });
    else if (ofEnvironment !== undefined)
      given.set(name, { text: ofEnvironment, source: { kind: 'environment', name: variable } });
    else if (ofFile && file !== null)
      given.set(name, { text: ofFile.text, source: { kind: 'file', file, line: ofFile.line } });
  }
  return { given, file, prove: flags['prove'] === true };
}

/** Returns the option as errors name it. */
export function labelOf(name: string, source: Source | undefined): string {
  return source?.kind === 'file' ? `${name} (${source.file}:${source.line})` : `--${name}`;
}

function parseFlags(argv: string[]): Record<string, unknown> {
  const names = [CONFIG_FLAG, ...Object.values(allFlags).map(({ name }) => name)];
  const strings = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  try {
    const options = { ...strings, prove: { type: 'boolean' as const } };
    return parseArgs({ args: argv, options, strict: true }).values;
  } catch (error) {
    throw invalidArgument(
      'flags',
      error instanceof Error ? error.message : 'The flags are invalid.',
      'See sandhaven up --help.',
    );
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
