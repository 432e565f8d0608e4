/**
 * Parses flags into the parameters of a tool or an action, by its schema. A value that does not parse as its type is
 * passed on as text, so that the service refuses it in the same words for every client.
 */
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { Tool } from '../../catalog/base/tool.ts';
import { inputJsonSchema, type JsonSchema } from '../../catalog/json-schema.ts';
import { validateInput } from '../../catalog/validate.ts';
import { invalidArgument } from '../../model/errors.ts';
import { commonFlags, type FlagSpec, flagIsSet, type ParsedFlags, parseFlags, usageError } from './flags.ts';
import type { CliIo } from './io.ts';

/** Source of more parameters: a file with a JSON object, or `-` for standard input. */
const callFlags = { parameters: { type: 'string' } } satisfies Record<string, FlagSpec>;

/** For tools that run a command: makes its exit status this command's own. */
const exitCodeFlag = { exit_code: { type: 'boolean' } } satisfies Record<string, FlagSpec>;

export interface CallArguments {
  parameters: Record<string, unknown>;
  /** --json, --help and the like, where the tool has no parameter of that name. */
  flags: ParsedFlags;
  /** Arguments that belong to no flag. */
  extras: string[];
}

export interface TakenArguments {
  /** The parameter that may be given without its flag. */
  argument?: string | undefined;
  /** The parameter that the arguments after it are the value of, when its flag is not given. */
  words?: string | undefined;
  /** Refused unless the command takes any number of arguments. */
  extras?: 'refused' | 'returned';
}

/** Rejects unknown flags with `invalid_argument`, naming the nearest parameter. */
export function toCallArguments(
  tool: Pick<Tool, 'input'> & Partial<Pick<Tool, 'output'>>,
  argv: string[],
  { argument, words, extras: others = 'refused' }: TakenArguments = {},
): CallArguments {
  const properties = inputJsonSchema(tool).properties ?? {};
  const runs = tool.output !== undefined && Object.hasOwn(tool.output.shape, 'exit_code');
  const common = { ...commonFlags, ...callFlags, ...(runs ? exitCodeFlag : {}) };
  const specs = { ...without(common, properties), ...specsOf(properties) };
  const flags = parseFlags(argv.map(snakeCaseFlag), specs);
  if (flagIsSet(flags, 'help')) return { parameters: {}, flags, extras: [] };
  const extras = [...flags.positionals, ...(flags.rest ?? [])];
  const bare = argument !== undefined && !flags.values.has(argument) ? extras.shift() : undefined;
  if (argument !== undefined && bare !== undefined) flags.values.set(argument, [bare]);
  if (words !== undefined && extras.length > 0 && !flags.values.has(words))
    flags.values.set(words, extras.splice(0));
  const given = [...flags.values].filter(([name]) => Object.hasOwn(properties, name));
  const parameters = Object.fromEntries(
    given.map(([name, values]) => [name, toValue(name, values, properties[name] ?? {})]),
  );
  if (flags.unknown.length > 0) {
    const unknown = Object.fromEntries(flags.unknown.map((name) => [name, true]));
    validateInput(tool.input, { ...parameters, ...unknown });
  }
  const [extra] = extras;
  if (extra !== undefined && others === 'refused') {
    throw usageError(`'${extra}' is not the value of any flag.`, 'Parameters are given as --name VALUE.');
  }
  // A parameter belongs to the tool alone: the `--url` of a repository must never be taken for the service's.
  const rest = [...flags.values].filter(([name]) => !Object.hasOwn(properties, name));
  return { parameters, flags: { ...flags, values: new Map(rest) }, extras };
}

/** Rewrites `--memory-gb` to `--memory_gb`; the part after an = stays unchanged. */
function snakeCaseFlag(argument: string): string {
  const match = /^--([a-z][a-z0-9-]*)(=.*)?$/s.exec(argument);
  const name = match?.[1];
  if (name === undefined || Object.hasOwn(commonFlags, name)) return argument;
  const bare = name.replace(/^no-/, '');
  return `--${name.slice(0, name.length - bare.length)}${bare.replaceAll('-', '_')}${match?.[2] ?? ''}`;
}

function without(
  specs: Record<string, FlagSpec>,
  properties: Record<string, JsonSchema>,
): Record<string, FlagSpec> {
  return Object.fromEntries(Object.entries(specs).filter(([name]) => !Object.hasOwn(properties, name)));
}

function specsOf(properties: Record<string, JsonSchema>): Record<string, FlagSpec> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, { type }]) => [
      name,
      { type: type === 'boolean' ? 'boolean' : 'string' } satisfies FlagSpec,
    ]),
  );
}

function toValue(name: string, values: string[], { type, anyOf }: JsonSchema): unknown {
  const [text = ''] = values;
  if (anyOf && values.length === 1) return parseJson(text) ?? text;
  if (type === 'array') return values.length === 1 ? (parseJson(text) ?? values) : values;
  if (type === 'object') return (values.length === 1 ? parseJson(text) : null) ?? toPairs(values) ?? text;
  if (values.length > 1)
    throw invalidArgument(name, `${name} was given ${values.length} times.`, 'Give it once.');
  switch (type) {
    case 'integer':
      return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
    case 'boolean':
      return { true: true, false: false }[text] ?? text;
    default:
      return text;
  }
}

function parseJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Parses `--labels team=core --labels tier=2`; null when one has no =. */
function toPairs(values: string[]): Record<string, string> | null {
  if (!values.every((value) => /^[^={]+=/.test(value))) return null;
  return Object.fromEntries(
    values.map((value) => [value.slice(0, value.indexOf('=')), value.slice(value.indexOf('=') + 1)]),
  );
}

/**
 * `--parameters FILE`: parameters that appear in no process list. Reads a file, or (`-`) standard input; empty
 * without a source. Errors never contain its contents, which may be secret.
 */
export async function readParameters(
  source: string | undefined,
  io: Pick<CliIo, 'stdin'>,
): Promise<Record<string, unknown>> {
  if (source === undefined) return {};
  const unreadable = (why: string) =>
    usageError(`--parameters: ${why}`, 'Give a file with a JSON object, or -.');
  const content = await (source === '-' ? text(io.stdin) : readFile(source, 'utf8')).catch(() => {
    throw unreadable('the file cannot be read.');
  });
  try {
    const parsed: unknown = JSON.parse(content);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return { ...parsed };
  } catch {
    throw unreadable('the contents are not JSON.');
  }
  throw unreadable('the contents are not a JSON object.');
}
