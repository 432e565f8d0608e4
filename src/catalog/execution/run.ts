/** Tools that run a command, or code, and wait for its end. */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { execOutput, execPrinted, execText, toExecView } from '../base/printed.ts';
import { defineTool, withoutUndefined } from '../base/tool.ts';
import { asUser, optionalSandbox } from '../parameters/sandbox.ts';
import {
  atMostBytes,
  environment,
  integerWithDefault,
  path,
  text,
  textWithoutNul,
} from '../parameters/scalars.ts';

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

const chart = z.looseObject({
  type: z.enum(['line', 'scatter', 'bar', 'pie', 'box', 'composite', 'unknown']),
  title: z.string().nullable(),
  x_label: z.string().nullable(),
  y_label: z.string().nullable(),
  x_scale: z.string().nullable(),
  y_scale: z.string().nullable(),
  elements: z.array(z.unknown()),
  png: z.string(),
});

export const runCode = defineTool({
  name: 'Sandbox.RunCode',
  title: 'Run code',
  description:
    "Runs code in the sandbox's language, without a shell. Each call starts afresh: only files are " +
    'kept. Returns output, exit_code and charts (every matplotlib figure); print what you want to see. A failing ' +
    'program is a result, not an error. invalid_state: StartSandbox first.',
  input: z.strictObject({
    code: text()
      .min(1)
      .check(atMostBytes(limits.codeBytes))
      .meta({ description: 'Source code.', sensitive: true }),
    sandbox: optionalSandbox,
    user: asUser,
    timeout_seconds: integerWithDefault('Seconds until it is killed', limits.runCodeTimeoutSeconds),
  }),
  output: execOutput.extend({ charts: z.array(chart) }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  long: true,
  live: true,
  async handler(parameters, { services, caller, signal, live }) {
    const { code, user, timeout_seconds } = parameters;
    const request = { code, user, timeoutMs: timeout_seconds * 1000, ...withoutUndefined({ live }) };
    const result = await services.execution.runCode(caller, parameters.sandbox, request, signal);
    return { ...toExecView(result), charts: result.charts.map((chart) => ({ ...chart })) };
  },
  printed: execPrinted,
  text: (result) => execText(result, result.charts.map(chartText)),
  images: ({ charts }) => charts.map(({ png }) => ({ data: png, mimeType: 'image/png' })),
});

/** `[chart 1: line "Sales", x "month", y "EUR", 2 elements]`; the picture itself is an image beside the text. */
function chartText({ type, title, x_label, y_label, elements }: z.output<typeof chart>, at: number): string {
  const named = [
    `${type}${title ? ` ${JSON.stringify(title)}` : ''}`,
    ...(x_label ? [`x ${JSON.stringify(x_label)}`] : []),
    ...(y_label ? [`y ${JSON.stringify(y_label)}`] : []),
    `${elements.length} ${elements.length === 1 ? 'element' : 'elements'}`,
  ];
  return `[chart ${at + 1}: ${named.join(', ')}]`;
}
