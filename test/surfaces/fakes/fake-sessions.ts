/** Sessions in memory: every command ends at once and prints itself. */
import type { SessionCommand, SessionService } from '../../../src/control/work/sessions.ts';
import { notFound } from '../../../src/model/errors.ts';

const CREATED_AT = Date.parse('2026-01-02T03:04:05Z');

export function fakeSessions(): Pick<SessionService, keyof SessionService> {
  const sessions = new Map<string, (SessionCommand & { command: string })[]>();
  const find = (sessionId: string) => {
    const commands = sessions.get(sessionId);
    if (!commands) throw notFound('session', `There is no session '${sessionId}'.`);
    return commands;
  };
  return {
    async create(_caller, _reference, { sessionId = 'session_1' } = {}) {
      sessions.set(sessionId, []);
      return { sessionId, createdAtMs: CREATED_AT };
    },
    async delete(_caller, _reference, sessionId) {
      find(sessionId);
      sessions.delete(sessionId);
    },
    list: async () =>
      [...sessions].map(([sessionId, commands]) => ({
        sessionId,
        createdAtMs: CREATED_AT,
        recentCommands: commands.map(({ commandId, command, status, exitCode }) => ({
          commandId,
          command,
          status,
          exitCode,
        })),
      })),
    async run(_caller, _reference, { sessionId, command, wait }) {
      const commands = find(sessionId);
      const state = wait
        ? { status: 'completed' as const, exitCode: 0, output: `${command}\n` }
        : { status: 'running' as const, exitCode: null, output: '' };
      const run = { commandId: `cmd_${commands.length + 1}`, command, ...state };
      commands.unshift(run);
      return run;
    },
    async logs(_caller, _reference, { sessionId, commandId }) {
      const found = find(sessionId).find((one) => one.commandId === commandId);
      if (!found) throw notFound('command', `There is no command '${commandId}'.`);
      const { status, exitCode, output } = found;
      return {
        ...{ status, exitCode, output, stdout: output, stderr: '', truncated: false },
        nextOffset: output.length,
      };
    },
    async follow(_caller, _reference, { sessionId, commandId, offset }) {
      const found = find(sessionId).find((one) => one.commandId === commandId);
      if (!found) throw notFound('command', `There is no command '${commandId}'.`);
      const { status, exitCode, output } = found;
      return { status, exitCode, output: output.slice(offset), truncated: false, nextOffset: output.length };
    },
    async sendInput(_caller, _reference, { sessionId }) {
      find(sessionId);
      return null;
    },
  };
}
