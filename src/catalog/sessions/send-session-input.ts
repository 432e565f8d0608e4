/** Sandbox.SendSessionInput */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { optionalSandbox } from '../parameters/sandbox.ts';
import { atMostBytes, text } from '../parameters/text.ts';
import { defineTool } from '../tool.ts';
import { commandId, sessionId } from './parameters.ts';

export const sendSessionInput = defineTool({
  name: 'Sandbox.SendSessionInput',
  title: 'Send input to a session command',
  description:
    'Types a line into a running session command, as at a terminal: answers, passwords. A newline is ' +
    'appended. \\u0004 is end of input, \\u0003 interrupts the command and ends the session. Then read ' +
    'GetSessionCommandLogs. invalid_state: the command has ended or is queued.',
  input: z.strictObject({
    session_id: sessionId,
    command_id: commandId,
    input: text()
      .check(atMostBytes(limits.session.inputBytes))
      .meta({ description: 'The line, without its newline.', sensitive: true }),
    sandbox: optionalSandbox,
  }),
  output: z.looseObject({ session_id: z.string(), command_id: z.string(), sent: z.literal(true) }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  async handler({ session_id, command_id, input, sandbox }, { services, caller, signal }) {
    const request = { sessionId: session_id, commandId: command_id, input };
    await services.sessions.sendInput(caller, sandbox, request, signal);
    return { session_id, command_id, sent: true as const };
  },
});
