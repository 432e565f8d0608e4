/** `sandhaven call TOOL`: any tool of the catalogue, with its parameters as flags; `sandhaven tools` lists them. */
import { findTool } from '../../../catalog/call.ts';
import { allTools as catalogue } from '../../../catalog/index.ts';
import { readParameters, toCallArguments } from '../arguments.ts';
import { createClient } from '../client.ts';
import { connectionOf } from '../connection.ts';
import { commonFlags, flagIsSet, flagValue, parseKnownFlags, usageError } from '../flags.ts';
import { commonHelp, toolHelp } from '../help.ts';
import type { Command } from '../io.ts';
import { printProblem, printResult, progressLine, ShownOutput, table, textOf } from '../output.ts';
import { shapeOfInput } from '../shape.ts';

const help = `Usage: sandhaven call TOOL [--parameter VALUE …]

Calls a tool, such as Sandbox.CreateSandbox; \`sandhaven tools\` lists them, and
\`sandhaven call TOOL --help\` shows the parameters of one.

  sandhaven call Sandbox.CreateSandbox --name demo --labels '{"team":"core"}'
  sandhaven call Sandbox.RunCommand --sandbox demo --command 'uname -a' --json
  sandhaven call Sandbox.RunCommand --sandbox demo --command 'test -e a' --exit-code
  sandhaven call Sandbox.GitClone --url https://example.org/a.git --parameters - < secrets.json

--exit-code, for a tool that runs a command, exits with the command's status.

--parameters FILE reads more parameters, a JSON object, from a file or (-) from standard input: unlike flags,
its contents appear in no process list.

${commonHelp}`;

export const call: Command = {
  summary: 'call a tool of the catalogue',
  shape: () => ({
    members: Object.fromEntries(catalogue.map(({ name, input }) => [name, { flags: shapeOfInput(input) }])),
  }),
  async run([name, ...argv], io) {
    if (name === undefined) throw usageError('No tool is named.', '`sandhaven tools` lists them.');
    if (name === '--help' || name === '-h') {
      io.stdout.write(help);
      return 0;
    }
    if (name.startsWith('-')) {
      throw usageError('The name of the tool comes first.', 'sandhaven call TOOL --parameter VALUE');
    }
    const tool = findTool(name);
    const { parameters: given, flags } = toCallArguments(tool, argv);
    if (flagIsSet(flags, 'help')) {
      io.stdout.write(toolHelp(tool));
      return 0;
    }
    const json = flagIsSet(flags, 'json');
    const parameters = { ...(await readParameters(flagValue(flags, 'parameters'), io)), ...given };
    const client = createClient(await connectionOf(flags, io));
    const progress = progressLine(io);
    const shown = tool.live && !json ? new ShownOutput(io, io.stdout) : null;
    const options = {
      ...{ signal: io.signal, onProgress: progress.show },
      ...(shown ? { onOutput: shown } : {}),
    };
    const { result, problem } = await client(tool, parameters, options).finally(progress.clear);
    if (problem) return printProblem(problem, json, io);
    // What the text has beyond the output, which has been printed.
    const rest = String(result['output']).length;
    if (shown?.has('stdout', 'stderr')) io.stdout.write(textOf(tool, result).slice(rest));
    else printResult(tool, result, json, io);
    // A running session command has no exit code yet.
    return flagIsSet(flags, 'exit_code') ? Number(result['exit_code'] ?? 0) : 0;
  },
};

const toolsHelp = `Usage: sandhaven tools [--json]

Lists the tools; with --json, with their schemas and annotations.

${commonHelp}`;

/** `sandhaven tools`: the catalogue. */
export const tools: Command = {
  summary: 'list the tools',
  async run(argv, { stdout }) {
    const flags = parseKnownFlags(argv, commonFlags);
    // No other command waits for all schemas.
    const { descriptions } = await import('../../../catalog/describe.ts');
    if (flagIsSet(flags, 'help')) stdout.write(toolsHelp);
    else if (flagIsSet(flags, 'json')) stdout.write(`${JSON.stringify({ tools: descriptions })}\n`);
    else stdout.write(`${table(descriptions.map(({ name, title }) => ({ name, title })))}\n`);
    return 0;
  },
};
