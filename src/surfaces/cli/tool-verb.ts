/** A verb that is a tool of the catalogue: its flags, its help and its checks are the tool's own. It may take several things, or list all. */
import { z } from 'zod';
import type { Tool } from '../../catalog/base/tool.ts';
import type { Problem } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { readParameters, toCallArguments } from './arguments.ts';
import { type CallOptions, type CallOutcome, type Client, createClient } from './client.ts';
import { type Connection, connectionOf } from './connection.ts';
import { flagIsSet, flagValue, usageError } from './flags.ts';
import { parametersHelp } from './help.ts';
import type { CliIo, Command } from './io.ts';
import { printable, printProblem, progressLine } from './output.ts';
import { type FlagValue, type Named, shapeOfInput } from './shape.ts';

interface Verb {
  /** As typed, such as `sandhaven create`. */
  usage: string;
  summary: string;
  /** Parameter that is given as the only argument; also the kind of what it names. */
  of?: 'sandbox';
  /** Returns the text for people; it ends with a line break. */
  print(result: Record<string, unknown>): string;
  /** Returns a line for each part of the call that failed. */
  failures?(result: Record<string, unknown>): string[];
}

export interface ToolVerb extends Verb {
  tool: Tool;
}

/** A verb that is one of several tools, by what it is given. */
export interface ChoosingVerb extends Verb {
  description: string;
  /** Parameters of all. */
  input: z.ZodObject;
  /** Flags that take names of some kind under a name of their own. */
  names?: Record<string, FlagValue>;
  /** Returns the tool and its parameters; throws where what is given fits none. */
  choose(given: Record<string, unknown>): [Tool, Record<string, unknown>];
}

export function toolVerb({ tool, ...verb }: ToolVerb): Command {
  const { input, description } = tool;
  return choosingVerb({ ...verb, input, description, choose: (given) => [tool, given] });
}

export function choosingVerb(verb: ChoosingVerb): Command {
  const { usage, summary, description, of, names = {} } = verb;
  const input = of === undefined ? verb.input : withoutNamed(verb.input, of);
  return {
    summary,
    shape: () => ({
      flags: { ...shapeOfInput(input), ...names },
      ...(of === undefined ? {} : { takes: [of] }),
    }),
    async run(argv, io) {
      const taken = { extras: of === undefined ? 'refused' : 'returned' } as const;
      const { parameters, flags, extras } = toCallArguments({ input }, argv, taken);
      if (flagIsSet(flags, 'help')) {
        const typed = of === undefined ? usage : `${usage} ${of.toUpperCase()}`;
        io.stdout.write(parametersHelp(typed, { description, input }));
        return 0;
      }
      const json = flagIsSet(flags, 'json');
      const named = of === undefined ? {} : { [of]: onlyOne(of, extras) };
      const more = await readParameters(flagValue(flags, 'parameters'), io);
      const [tool, chosen] = verb.choose({ ...more, ...parameters, ...named });
      const client = createClient(await connectionOf(flags, io));
      const { result, problem } = await withProgress(io, (onProgress) =>
        client(tool, chosen, { signal: io.signal, onProgress }),
      );
      if (problem) return printProblem(problem, json, io);
      io.stdout.write(json ? `${JSON.stringify(result)}\n` : verb.print(result));
      const failures = verb.failures?.(result) ?? [];
      // With --json the result has them.
      if (!json) for (const line of failures) io.stderr.write(`${printable(line)}\n`);
      return failures.length === 0 ? 0 : SOME_FAILED;
    },
  };
}

function withoutNamed(input: z.ZodObject, of: string): z.ZodObject {
  const { [of]: _named, ...others } = input.shape;
  return z.strictObject(others);
}

function onlyOne(of: string, [name, extra]: string[]): string {
  if (name === undefined) throw usageError(`No ${of} is named.`, '`sandhaven ls` lists them.');
  if (extra === undefined) return name;
  throw usageError(
    `'${extra}' is not the value of any flag.`,
    `One ${of} is named, and parameters by flags.`,
  );
}

/** Shows the progress of a call on a terminal, and erases it at the end. */
function withProgress<T>(
  io: CliIo,
  call: (onProgress: ReturnType<typeof progressLine>['show']) => Promise<T>,
): Promise<T> {
  const progress = progressLine(io);
  return call(progress.show).finally(progress.clear);
}

/** Exit status when one of several failed: their problems may be of different kinds. */
const SOME_FAILED = 1;
const ofSeveral = 'Each one that is named is reported; the exit status is 1 when any of several failed.';

/**
 * A verb that does the same to each of the things that are named. Each one is reported, and a failure of one stops
 * none of the others.
 */
interface EachVerb {
  /** As typed, such as `sandhaven start`. */
  usage: string;
  summary: string;
  /** Parameter of the tool or action that names the thing; also its kind. */
  of: Extract<Named, 'sandbox' | 'snapshot'>;
  /** Command that lists such things. */
  listedBy: string;
  definition: { input: z.ZodObject; description: string };
  call(
    connection: Connection,
  ): (parameters: Record<string, unknown>, options: CallOptions) => Promise<CallOutcome>;
  print(result: Record<string, unknown>, io: CliIo): void;
}

export function eachVerb(verb: EachVerb): Command {
  const { usage, summary, of, listedBy } = verb;
  const input = withoutNamed(verb.definition.input, of);
  return {
    summary,
    shape: () => ({ flags: shapeOfInput(input), takes: [of], repeats: true }),
    async run(argv, io) {
      const { parameters, flags, extras } = toCallArguments({ input }, argv, { extras: 'returned' });
      if (flagIsSet(flags, 'help')) {
        const description = `${verb.definition.description} ${ofSeveral}`;
        io.stdout.write(parametersHelp(`${usage} ${of.toUpperCase()} …`, { description, input }));
        return 0;
      }
      if (extras.length === 0) throw usageError(`No ${of} is named.`, `\`${listedBy}\` lists them.`);
      const more = await readParameters(flagValue(flags, 'parameters'), io);
      const call = verb.call(await connectionOf(flags, io));
      return reportEach(extras, verb, flagIsSet(flags, 'json'), io, (name, options) =>
        call({ ...more, ...parameters, [of]: name }, options),
      );
    },
  };
}

/** @returns the status of the problem where one thing is named, and 1 where some of several failed. */
async function reportEach(
  names: string[],
  { print }: EachVerb,
  json: boolean,
  io: CliIo,
  call: (name: string, options: CallOptions) => Promise<CallOutcome>,
): Promise<number> {
  let status = 0;
  for (const name of names) {
    const { result, problem } = await withProgress(io, (onProgress) =>
      call(name, { signal: io.signal, onProgress }),
    );
    if (problem) {
      const own = printProblem(problem, json, io);
      status = names.length === 1 ? own : SOME_FAILED;
    } else if (json) io.stdout.write(`${JSON.stringify(result)}\n`);
    else print(result, io);
  }
  return status;
}

/** Every page of a list, as one. */
type Listed<Item> = { items: Item[]; problem?: never } | { problem: Problem; items?: never };

/** @param key Field of the result that holds the items. */
export async function allPages<Item>(
  client: Client,
  { tool, key, parameters = {} }: { tool: Tool; key: string; parameters?: Record<string, unknown> },
  signal: AbortSignal,
): Promise<Listed<Item>> {
  const items: Item[] = [];
  for (let page = 1, pages = 1; page <= pages; page++) {
    const asked = { ...parameters, page, page_size: limits.pageSize.max };
    const { result, problem } = await client(tool, asked, { signal });
    if (problem) return { problem };
    items.push(...(result[key] as Item[]));
    pages = Number(result['total_pages']);
  }
  return { items };
}
