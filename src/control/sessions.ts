/** Sessions of a sandbox: shells that persist between calls. Their state lives with the agent inside. */
import { SandhavenError } from '../model/errors.ts';
import { newCommandId, newSessionId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { User } from '../model/user.ts';
import type { Environments } from './environment.ts';
import type { AgentSessions, SessionCommandLogs, SessionCommandStatus, SessionSummary } from './ports.ts';
import type { Uses } from './use.ts';

type Reference = string | undefined;

export interface SessionCommand {
  commandId: string;
  status: SessionCommandStatus;
  /** null until it has ended. */
  exitCode: number | null;
  /** What it has printed so far. */
  output: string;
}

export class SessionService {
  readonly #uses: Uses;
  readonly #agent: AgentSessions;
  readonly #environments: Environments;

  constructor(uses: Uses, agent: AgentSessions, environments: Environments) {
    this.#uses = uses;
    this.#agent = agent;
    this.#environments = environments;
  }

  create(
    caller: User,
    reference: Reference,
    sessionId = newSessionId(),
    signal?: AbortSignal,
  ): Promise<{ sessionId: string; createdAtMs: number }> {
    return this.#uses.run(caller, reference, async (sandbox) => {
      // Standard input is a terminal, of which programs may expect no more than lines of text.
      const env = { TERM: 'dumb', ...(await this.#environments.of(sandbox)) };
      const request = { sessionId, cwd: '.', env };
      const { createdAtMs } = await this.#agent.createSession(sandbox.id, request, signal);
      return { sessionId, createdAtMs };
    });
  }

  list(caller: User, reference: Reference): Promise<SessionSummary[]> {
    return this.#uses.run(caller, reference, async ({ id }) => (await this.#agent.listSessions(id)).sessions);
  }

  /** A caller that goes away ends its waiting, never the command. */
  run(
    caller: User,
    reference: Reference,
    request: { sessionId: string; command: string; wait: boolean },
    signal?: AbortSignal,
  ): Promise<SessionCommand> {
    return this.#uses.run(caller, reference, async ({ id }) => {
      const { sessionId, command, wait } = request;
      const commandId = newCommandId();
      const waits = {
        waitTurnMs: wait ? limits.session.waitTurnMs : 0,
        waitRunMs: wait ? limits.session.waitRunMs : 0,
      };
      const result = await this.#agent.runSessionCommand(
        id,
        { sessionId, commandId, command, ...waits },
        signal,
      );
      if (result.status === 'closed') throw closed(sessionId);
      return { ...result, status: result.status, commandId };
    });
  }

  logs(
    caller: User,
    reference: Reference,
    sessionId: string,
    commandId: string,
  ): Promise<SessionCommandLogs> {
    return this.#uses.run(caller, reference, ({ id }) =>
      this.#agent.sessionCommandLogs(id, sessionId, commandId),
    );
  }

  /** To a command that runs; a newline is appended. */
  sendInput(
    caller: User,
    reference: Reference,
    request: { sessionId: string; commandId: string; input: string },
    signal?: AbortSignal,
  ): Promise<void> {
    return this.#uses.run(caller, reference, async ({ id }) => {
      const status = await this.#agent.sendSessionInput(id, request, signal);
      if (status !== 'running') throw notRunning(request.commandId, status);
    });
  }
}

function closed(sessionId: string): SandhavenError {
  return new SandhavenError('invalid_state', `Session '${sessionId}' is closed: its shell has ended.`, {
    parameter: 'session_id',
    hint: 'Make another with Sandbox.CreateSession; the same session_id may be used again.',
  });
}

function notRunning(commandId: string, status: 'queued' | 'completed'): SandhavenError {
  return status === 'queued'
    ? new SandhavenError('invalid_state', `Command '${commandId}' waits for its turn.`, {
        parameter: 'command_id',
        hint: 'Send input once Sandbox.GetSessionCommandLogs says that it is running.',
      })
    : new SandhavenError('invalid_state', `Command '${commandId}' has ended.`, {
        parameter: 'command_id',
        hint: 'Read its output with Sandbox.GetSessionCommandLogs, or run another command.',
      });
}
