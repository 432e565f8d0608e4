/** A verb that is one tool of the catalogue: its flags, its help and its checks are the tool's own. */
import type { Tool } from '../../../catalog/tool.ts';
import { toCallArguments } from '../arguments.ts';
import { createClient } from '../client.ts';
import { shapeOfInput } from '../completion/shape.ts';
import { connectionOf } from '../connection.ts';
import { flagIsSet, flagValue } from '../flags.ts';
import { parametersHelp } from '../help.ts';
import type { CliIo, Command } from '../io.ts';
import { printProblem, progressLine } from '../output.ts';
import { readParameters } from '../parameters-file.ts';

export interface ToolVerb {
  /** As typed, such as `sandhaven create`. */
  usage: string;
  summary: string;
  tool: Tool;
  /** Returns the text for people; it ends with a line break. */
  print(result: Record<string, unknown>): string;
}

export function toolVerb({ usage, summary, tool, print }: ToolVerb): Command {
  return {
    summary,
    shape: () => ({ flags: shapeOfInput(tool.input) }),
    async run(argv, io) {
      const { parameters, flags } = toCallArguments(tool, argv);
      if (flagIsSet(flags, 'help')) {
        io.stdout.write(parametersHelp(usage, tool));
        return 0;
      }
      const json = flagIsSet(flags, 'json');
      const more = await readParameters(flagValue(flags, 'parameters'), io);
      const client = createClient(await connectionOf(flags, io));
      const { result, problem } = await withProgress(io, (onProgress) =>
        client(tool, { ...more, ...parameters }, { signal: io.signal, onProgress }),
      );
      if (problem) return printProblem(problem, json, io);
      io.stdout.write(json ? `${JSON.stringify(result)}\n` : print(result));
      return 0;
    },
  };
}

/** Shows the progress of a call on a terminal, and erases it at the end. */
export function withProgress<T>(
  io: CliIo,
  call: (onProgress: ReturnType<typeof progressLine>['show']) => Promise<T>,
): Promise<T> {
  const progress = progressLine(io);
  return call(progress.show).finally(progress.clear);
}
