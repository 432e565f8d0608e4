/** Parses command lines into flags, on node:util's parser, with suggestions for misspelled ones. */
import { parseArgs } from 'node:util';
import { SandhavenError } from '../../model/errors.ts';
import { nearest } from '../../model/nearest.ts';

export interface FlagSpec {
  type: 'string' | 'boolean';
  short?: string;
}

export interface ParsedFlags {
  /** Keyed by name, with all given values: for a boolean 'true', 'false' or the text after its `=`. */
  values: Map<string, string[]>;
  positionals: string[];
  /** Arguments after `--`; null without it. */
  rest: string[] | null;
  /** Flags that no spec names, as written, without the dashes. */
  unknown: string[];
}

/** Flags of every command: `-h`, `--help`, `--json` and the service's location. */
export const commonFlags = {
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
  url: { type: 'string' },
  context: { type: 'string' },
  team: { type: 'string' },
  'data-dir': { type: 'string' },
} satisfies Record<string, FlagSpec>;

/** Throws `invalid_argument` for a flag without its value. */
export function parseFlags(argv: string[], specs: Record<string, FlagSpec>): ParsedFlags {
  const { tokens } = parseArgs({ args: argv, options: specs, strict: false, tokens: true });
  const parsed: ParsedFlags = { values: new Map(), positionals: [], rest: null, unknown: [] };
  for (const token of tokens) {
    if (token.kind === 'option-terminator') parsed.rest = [];
    else if (token.kind === 'positional') (parsed.rest ?? parsed.positionals).push(token.value);
    else addOption(parsed, token, specs);
  }
  return parsed;
}

/** Like `parseFlags`, but throws `invalid_argument` for an unknown flag, naming the nearest. */
export function parseKnownFlags(argv: string[], specs: Record<string, FlagSpec>): ParsedFlags {
  const parsed = parseFlags(argv, specs);
  const [unknown] = parsed.unknown;
  if (unknown === undefined) return parsed;
  const [close] = nearest(unknown, Object.keys(specs));
  throw usageError(`There is no flag --${unknown}.`, close ? `Did you mean --${close}?` : 'See --help.');
}

/** Takes `-u` as `--user`, where flags come from a tool's parameters. */
export function longUser(word: string): string {
  return word === '-u' ? '--user' : word;
}

/** The last value wins. */
export function flagValue({ values }: ParsedFlags, name: string): string | undefined {
  return values.get(name)?.at(-1);
}

export function flagIsSet(parsed: ParsedFlags, name: string): boolean {
  const value = flagValue(parsed, name);
  return value !== undefined && value !== 'false';
}

export function usageError(detail: string, hint = 'See --help.'): SandhavenError {
  return new SandhavenError('invalid_argument', detail, { hint });
}

interface OptionToken {
  name: string;
  rawName: string;
  value: string | undefined;
  inlineValue: boolean | undefined;
}

function addOption(parsed: ParsedFlags, token: OptionToken, specs: Record<string, FlagSpec>): void {
  const { name, rawName, value, inlineValue } = token;
  const spec = Object.hasOwn(specs, name) ? specs[name] : undefined;
  const positive = name.startsWith('no-') ? name.slice(3) : '';
  if (!spec && Object.hasOwn(specs, positive) && specs[positive]?.type === 'boolean') {
    append(parsed, positive, 'false');
  } else if (!spec) {
    parsed.unknown.push(rawName.replace(/^--?/, ''));
  } else if (spec.type === 'boolean') {
    append(parsed, name, value ?? 'true');
  } else {
    const missing = value === undefined || (!inlineValue && value.startsWith('--'));
    if (missing) throw usageError(`${rawName} needs a value.`, `Write ${rawName}=VALUE.`);
    append(parsed, name, value);
  }
}

function append({ values }: ParsedFlags, name: string, value: string): void {
  values.set(name, [...(values.get(name) ?? []), value]);
}
