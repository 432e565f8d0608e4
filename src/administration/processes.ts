/** Actions on processes of a sandbox that outlive the call that starts them. */
import { z } from 'zod';
import { timestamp } from '../catalog/base/sandbox-view.ts';
import { asUser, sandbox, terminalSizeOf } from '../catalog/parameters/sandbox.ts';
import {
  atMostBytes,
  bytesOf,
  encoding,
  environment,
  integerWithDefault,
  optionalInteger,
  path,
  text,
  textWithoutNul,
} from '../catalog/parameters/scalars.ts';
import type { DetachedSummary } from '../control/ports/index.ts';
import { invalidArgument } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { defineAction } from './action.ts';

const { tagChars, timeoutSeconds, inputBytes } = limits.detached;
const { columns, rows } = limits.terminal;
const { signalNameChars } = limits.process;

const tagForm = `[A-Za-z][A-Za-z0-9_-]{0,${tagChars - 1}}`;
const ofTag = `a letter, then up to ${tagChars - 1} letters, digits, _ or -`;

export const processReference = z
  .string()
  .regex(new RegExp(`^(?:\\d{1,7}|${tagForm})$`), `must be a pid, or a tag: ${ofTag}`)
  .describe('Pid or tag.');

const processOutput = z.looseObject({
  process: z.string().describe('The pid, as other actions take it.'),
  pid: z.int(),
  tag: z.string().nullable(),
  command: z.string().describe('Its first characters.'),
  status: z.enum(['running', 'ended']),
  started_at: z.string(),
  ended_at: z.string().nullable(),
  exit_code: z.int().nullable(),
  signal: z.string().nullable().describe('Signal that ended it, such as SIGKILL.'),
  timed_out: z.boolean(),
  viewers: z.int(),
  output_bytes: z.int().describe('Printed so far, on both streams.'),
  cols: z.int().nullable().describe('Of its terminal.'),
  rows: z.int().nullable(),
});

function toProcessView(process: DetachedSummary): z.output<typeof processOutput> {
  const { pid, tag, label, startedAtMs, terminal, viewers, outputBytes, end } = process;
  return {
    ...{ process: String(pid), pid, tag, command: label, status: end ? 'ended' : 'running' },
    ...{ started_at: timestamp(startedAtMs), ended_at: end && timestamp(end.endedAtMs) },
    ...{ exit_code: end?.exitCode ?? null, signal: end?.signal ?? null, timed_out: end?.timedOut ?? false },
    ...{ viewers, output_bytes: outputBytes },
    ...{ cols: terminal?.columns ?? null, rows: terminal?.rows ?? null },
  };
}

const common = { role: 'member', argument: 'sandbox' } as const;
const changes = { ...common, scope: 'sandboxes:write', words: 'process' } as const;
const named = { sandbox, process: processReference };

export const startProcess = defineAction({
  ...common,
  name: 'StartProcess',
  title: 'Start a process that goes on by itself',
  description:
    'Runs bash -c in the background of a started sandbox, and answers at once. The process outlives its caller, and a restart ' +
    'of the service. The last 256 KiB of its output are kept; whoever follows it gets every byte. With cols and rows it has a ' +
    'terminal.',
  scope: 'sandboxes:write',
  command: 'processes start',
  words: 'command',
  input: z.strictObject({
    sandbox,
    command: textWithoutNul()
      .min(1)
      .check(atMostBytes(limits.commandBytes))
      .meta({ description: 'Shell command.', sensitive: true }),
    cwd: path().optional().describe("Directory to run in (default: /workspace, or the user's home)."),
    env: environment().default({}).meta({ description: 'More environment variables.', sensitive: true }),
    user: asUser,
    tag: z
      .string()
      .regex(new RegExp(`^${tagForm}$`), `must be ${ofTag}`)
      .optional()
      .describe('Name beside the pid, of one running process of the sandbox.'),
    timeout_seconds: integerWithDefault('Seconds until it is killed', timeoutSeconds),
    cols: optionalInteger('Columns of its terminal, with rows', columns),
    rows: optionalInteger('Rows of its terminal, with cols', rows),
  }),
  output: processOutput,
  async handler({ sandbox: reference, timeout_seconds, cols, rows, ...given }, { services, caller, signal }) {
    const terminal = terminalSizeOf({ cols, rows }) ?? undefined;
    const request = { ...given, terminal, timeoutMs: timeout_seconds * 1_000 };
    return toProcessView(await services.processes.start(caller, reference, request, signal));
  },
});

export const listProcesses = defineAction({
  ...common,
  name: 'ListProcesses',
  title: 'List the processes of a sandbox',
  description:
    'Processes that StartProcess has started in one of your sandboxes, oldest first: those that run, and the last that have ended.',
  scope: 'sandboxes:read',
  command: 'processes list',
  input: z.strictObject({ sandbox }),
  output: z.looseObject({ processes: z.array(processOutput) }),
  async handler({ sandbox: reference }, { services, caller }) {
    return { processes: (await services.processes.list(caller, reference)).map(toProcessView) };
  },
  rows: ({ processes }) =>
    processes.map(({ pid, tag, status, exit_code, viewers, output_bytes, started_at, command }) => ({
      ...{ pid, tag, status, exit_code, viewers, output_bytes, started: started_at, command },
    })),
});

export const sendProcessInput = defineAction({
  ...changes,
  name: 'SendProcessInput',
  title: 'Send input to a process',
  description:
    'Writes to the standard input of a process, or types into its terminal. Answers once all of it is taken; close_input ends ' +
    'the input afterwards.',
  command: 'processes input',
  input: z.strictObject({
    ...named,
    input: text().default('').meta({ description: 'Nothing is added to it.', sensitive: true }),
    encoding: encoding().describe('Of input; base64 for binary (default utf-8).'),
    close_input: z.boolean().default(false).describe('No more input comes.'),
  }),
  output: z.looseObject({ process: z.string(), bytes_written: z.int() }),
  async handler({ sandbox: reference, process, ...given }, { services, caller, signal }) {
    const bytes = bytesOf('input', given.input, given.encoding, 'Leave encoding out for text.');
    if (bytes.length > inputBytes)
      throw invalidArgument(
        'input',
        `input must be at most ${inputBytes} bytes.`,
        'Send it in several calls.',
      );
    const written = { process, bytes, close: given.close_input };
    await services.processes.write(caller, reference, written, signal);
    return { process, bytes_written: bytes.length };
  },
});

export const signalProcess = defineAction({
  ...changes,
  name: 'SignalProcess',
  title: 'Send a signal to a process',
  description: 'Sends a signal to the group of a process, or to the one in the foreground of its terminal.',
  command: 'processes signal',
  input: z.strictObject({
    ...named,
    signal: z.string().min(1).max(signalNameChars).describe('Name, such as TERM, INT or HUP.'),
  }),
  output: z.looseObject({ process: z.string(), signal: z.string() }),
  async handler({ sandbox: reference, process, signal }, { services, caller }) {
    await services.processes.signal(caller, reference, process, signal);
    return { process, signal };
  },
});

export const resizeProcess = defineAction({
  ...changes,
  name: 'ResizeProcess',
  title: 'Resize the terminal of a process',
  description: 'Gives the terminal of a process another size.',
  command: 'processes resize',
  input: z.strictObject({
    ...named,
    cols: z.int().min(columns.min).max(columns.max),
    rows: z.int().min(rows.min).max(rows.max),
  }),
  output: z.looseObject({ process: z.string(), cols: z.int(), rows: z.int() }),
  async handler({ sandbox: reference, process, cols, rows }, { services, caller }) {
    await services.processes.resize(caller, reference, process, { columns: cols, rows });
    return { process, cols, rows };
  },
});

export const endProcess = defineAction({
  ...changes,
  name: 'EndProcess',
  title: 'End a process',
  description:
    'Kills a process with all that it has started, and forgets it. Answers when all has ended. Of one that has ended it forgets ' +
    'the output.',
  command: 'processes end',
  input: z.strictObject(named),
  output: z.looseObject({ process: z.string(), ended: z.literal(true) }),
  async handler({ sandbox: reference, process }, { services, caller, signal }) {
    await services.processes.end(caller, reference, process, signal);
    return { process, ended: true as const };
  },
});
