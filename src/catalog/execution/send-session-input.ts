/** Sandbox.SendSessionInput */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { defineTool } from '../base/tool.ts';
import { optionalSandbox } from '../parameters/sandbox.ts';
import { atMostBytes, text } from '../parameters/scalars.ts';
import {
  commandId,
  commandStatus,
  commandText,
  exitCodeOf,
  optionalExitCode,
  sessionId,
  waitSeconds,
} from './parameters.ts';

export const sendSessionInput = defineTool({
  name: 'Sandbox.SendSessionInput',
  title: 'Send input to a session command',
  description:
    'Types a line into a running session command, as at a terminal that does not echo: answers, ' +
    'passwords. A newline is appended. \\u0004 is end of input, \\u0003 interrupts the command and ends ' +
    'the session. invalid_state: the command has ended or is queued.',
  input: z.strictObject({
    session_id: sessionId,
    command_id: commandId,
    input: text()
      .check(atMostBytes(limits.session.inputBytes))
      .meta({ description: 'The line, without its newline.', sensitive: true }),
    sandbox: optionalSandbox,
    wait_seconds: waitSeconds('Seconds to wait for what it prints next'),
  }),
  output: z.looseObject({
    session_id: z.string(),
    command_id: z.string(),
    sent: z.literal(true),
    status: commandStatus.optional(),
    exit_code: optionalExitCode,
    output: z.string().optional(),
    next_offset: z.int().optional(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  async handler({ session_id, command_id, input, sandbox, wait_seconds }, { services, caller, signal }) {
    const waitMs = wait_seconds * 1_000;
    const request = { sessionId: session_id, commandId: command_id, input, waitMs };
    const followed = await services.sessions.sendInput(caller, sandbox, request, signal);
    const sent = { session_id, command_id, sent: true as const };
    if (followed === null) return sent;
    const { status, exitCode, output, nextOffset } = followed;
    return { ...sent, status, ...exitCodeOf(exitCode), output, next_offset: nextOffset };
  },
  text: ({ command_id, status, output = '', ...followed }) =>
    status === undefined
      ? `Sent to ${command_id}.`
      : commandText({ command_id, status, output, ...followed }),
});
