/** Sandbox.RunCommand */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { execOutput, execPrinted, execText, toExecView } from '../base/printed.ts';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import { path } from '../parameters/path.ts';
import { asUser, optionalSandbox } from '../parameters/sandbox.ts';
import { atMostBytes, integerWithDefault, textWithoutNul } from '../parameters/scalars.ts';
import { environment } from '../parameters/string-map.ts';

export const runCommand = defineTool({
  name: 'Sandbox.RunCommand',
  title: 'Run a shell command',
  description:
    'Runs bash -c as root or user, with empty standard input, and waits for its end; background children live ' +
    'on. Returns output (stdout and stderr as they came), both apart, and exit_code. A failing command ' +
    'is a result, not an error. invalid_state: StartSandbox first.',
  input: z.strictObject({
    command: textWithoutNul()
      .min(1)
      .check(atMostBytes(limits.commandBytes))
      .meta({ description: 'Shell command; pipes, && and several lines work.', sensitive: true }),
    sandbox: optionalSandbox,
    user: asUser,
    cwd: path().optional().describe('Directory to run in (default: /workspace).'),
    env: environment().default({}).meta({
      description: 'More environment variables, as strings (default: none).',
      sensitive: true,
    }),
    timeout_seconds: integerWithDefault('Seconds until it is killed', limits.runCommandTimeoutSeconds),
  }),
  output: execOutput,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  long: true,
  live: true,
  async handler(parameters, { services, caller, signal, live }) {
    const { command, user, env, cwd, timeout_seconds } = parameters;
    const timeoutMs = timeout_seconds * 1000;
    const request = { command, user, env, timeoutMs, ...withoutUndefined({ cwd, live }) };
    return toExecView(await services.execution.runCommand(caller, parameters.sandbox, request, signal));
  },
  text: execText,
  printed: execPrinted,
});
