/** Sessions, and the commands in them. */
import { z } from 'zod';
import { atMostBytes, text } from '../../../../catalog/parameters/scalars.ts';
import { validateInput } from '../../../../catalog/validate.ts';
import { notFound } from '../../../../model/errors.ts';
import { limits } from '../../../../model/limits.ts';
import { sendJson } from '../../../http/routes/send.ts';
import { audited, type DaytonaCall, type DaytonaRoute } from '../../base/call.ts';
import { logsFor } from '../../base/generation.ts';

const SESSIONS = '/process/session';

export const sessionRoutes: readonly DaytonaRoute[] = [
  { method: 'POST', path: SESSIONS, status: 201, handler: create },
  { method: 'GET', path: SESSIONS, handler: list },
  { method: 'GET', path: `${SESSIONS}/entrypoint`, handler: findEntrypoint },
  { method: 'GET', path: `${SESSIONS}/:session`, handler: find },
  { method: 'DELETE', path: `${SESSIONS}/:session`, status: 204, handler: remove },
  { method: 'POST', path: `${SESSIONS}/:session/exec`, handler: run },
  { method: 'GET', path: `${SESSIONS}/:session/command/:command`, handler: findCommand },
  { method: 'POST', path: `${SESSIONS}/:session/command/:command/input`, status: 204, handler: typeInput },
];

async function create(call: DaytonaCall): Promise<unknown> {
  const { sandbox } = call.params;
  const { session_id } = await call.tool('Sandbox.CreateSession', {
    ...{ sandbox, session_id: call.body['sessionId'] },
  });
  return { sessionId: session_id };
}

async function list(call: DaytonaCall): Promise<unknown> {
  return (await sessionsOf(call)).map(toSession);
}

async function find(call: DaytonaCall): Promise<unknown> {
  return toSession(await sessionOf(call));
}

/** No sandbox has a session of its entrypoint, whose output is discarded. */
async function findEntrypoint(call: DaytonaCall): Promise<unknown> {
  await sessionsOf(call);
  return { sessionId: 'entrypoint', commands: [] };
}

async function remove(call: DaytonaCall): Promise<void> {
  const { sandbox, session } = call.params;
  await call.action('DeleteSession', { sandbox, session_id: session });
}

async function run(call: DaytonaCall): Promise<unknown> {
  const { sandbox, session } = call.params;
  const { command, runAsync, async } = call.body;
  const { command_id, status, exit_code } = await call.tool('Sandbox.RunSessionCommand', {
    ...{ sandbox, session_id: session, command, async_exec: runAsync === true || async === true },
  });
  // The longest wait ends too, and the command goes on.
  if (status !== 'completed') return call.reply.code(202).send({ cmdId: command_id });
  const logs = await call.tool('Sandbox.GetSessionCommandLogs', { sandbox, session_id: session, command_id });
  const { stdout, stderr } = logs;
  const { output } = logsFor(call.request, logs);
  return sendJson(
    call.reply,
    { cmdId: command_id, output, stdout, stderr, exitCode: exit_code },
    call.signal,
  );
}

async function findCommand(call: DaytonaCall): Promise<unknown> {
  const { sandbox, session, command } = call.params;
  const known = (await sessionOf(call)).recent_commands.find(({ command_id }) => command_id === command);
  if (known) return toCommand(known);
  // The list has the newest, and nothing has the text of an older one.
  const { exit_code } = await call.tool('Sandbox.GetSessionCommandLogs', {
    ...{ sandbox, session_id: session, command_id: command, offset: limits.session.followOffset.max },
  });
  return toCommand({ command_id: command, command: '', exit_code });
}

const typed = z.object({
  data: text().check(atMostBytes(limits.session.inputBytes)).meta({ sensitive: true }),
});

/** Data that end in a newline are a line, which every agent types; others need one that types them as they are. */
async function typeInput(call: DaytonaCall): Promise<void> {
  const { sandbox, session = '', command = '' } = call.params;
  const { data } = validateInput(typed, call.body);
  const isLine = data.endsWith('\n');
  const input = { input: isLine ? data.slice(0, -1) : data, asIs: !isLine, waitMs: 0 };
  const { services, request, signal } = call;
  await audited(call, { action: 'Sandbox.SendSessionInput', scope: 'sandboxes:write' }, () =>
    services.sessions.sendInput(
      request.caller,
      sandbox,
      { sessionId: session, commandId: command, ...input },
      signal,
    ),
  );
}

interface Listed {
  session_id: string;
  /** Newest first. */
  recent_commands: Record<'command_id' | 'command' | 'exit_code', unknown>[];
}

async function sessionsOf(call: DaytonaCall): Promise<Listed[]> {
  const { sessions } = await call.tool('Sandbox.ListSessions', { sandbox: call.params['sandbox'] });
  return sessions as Listed[];
}

async function sessionOf(call: DaytonaCall): Promise<Listed> {
  const { session } = call.params;
  const found = (await sessionsOf(call)).find(({ session_id }) => session_id === session);
  if (found) return found;
  throw notFound('session', `There is no active session '${session}'.`, 'Create it first.');
}

function toSession({ session_id, recent_commands }: Listed): object {
  return { sessionId: session_id, commands: recent_commands.map(toCommand).reverse() };
}

/** Clients wait until there is an exit code, and null would be one to them. */
function toCommand({ command_id, command, exit_code }: Listed['recent_commands'][number]): object {
  return { id: command_id, command, ...(exit_code === undefined ? {} : { exitCode: exit_code }) };
}
