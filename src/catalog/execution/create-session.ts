/** Sandbox.CreateSession */
import { z } from 'zod';
import { defineTool } from '../base/tool.ts';
import { asUser, optionalSandbox } from '../parameters/sandbox.ts';
import { newSessionId, sessionStatus } from './parameters.ts';

export const createSession = defineTool({
  name: 'Sandbox.CreateSession',
  title: 'Create a session',
  description:
    'Opens a bash that stays: directory, variables and functions persist between its commands, which ' +
    'may run in the background and take input. Returns session_id for RunSessionCommand. For one-off ' +
    'commands use RunCommand.',
  input: z.strictObject({ sandbox: optionalSandbox, session_id: newSessionId, user: asUser }),
  output: z.looseObject({ session_id: z.string(), status: sessionStatus, created_at: z.string() }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  async handler({ sandbox, session_id: sessionId, user }, { services, caller, signal }) {
    const session = await services.sessions.create(caller, sandbox, { sessionId, user }, signal);
    return {
      session_id: session.sessionId,
      status: 'active' as const,
      created_at: new Date(session.createdAtMs).toISOString(),
    };
  },
});
