/** Sessions of a sandbox: shells that persist between calls. The agent inside holds their state. */
import { SandhavenError } from '../../model/errors.ts';
import { newCommandId, newSessionId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { User } from '../../model/user.ts';
import type {
  AgentSessions,
  FollowedCommand,
  LiveOutput,
  SessionCommandLogs,
  SessionCommandStatus,
  SessionSummary,
} from '../ports/index.ts';
import type { Environments } from './environment.ts';
import { shownWhile } from './follow-session.ts';
import type { Uses } from './use.ts';

type Reference = string | undefined;

export interface SessionCommand {
  commandId: string;
  status: SessionCommandStatus;
  /** null until it has ended. */
  exitCode: number | null;
  /** Output so far. */
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
      // Standard input is a terminal that offers programs no more than lines of text.
      const env = { TERM: 'dumb', ...(await this.#environments.of(sandbox)) };
      const request = { sessionId, cwd: '.', env };
      const { createdAtMs } = await this.#agent.createSession(sandbox.id, request, signal);
      return { sessionId, createdAtMs };
    });
  }

  list(caller: User, reference: Reference): Promise<SessionSummary[]> {
    return this.#uses.run(caller, reference, async ({ id }) => (await this.#agent.listSessions(id)).sessions);
  }

  /**
   * Runs a command. A caller that disconnects ends its wait, never the command.
   * @param request `live` receives output during the wait.
   */
  run(
    caller: User,
    reference: Reference,
    request: { sessionId: string; command: string; wait: boolean; live?: LiveOutput },
    signal?: AbortSignal,
  ): Promise<SessionCommand> {
    return this.#uses.run(caller, reference, async ({ id }) => {
      const { sessionId, command, wait, live } = request;
      const commandId = newCommandId();
      const waits = {
        waitTurnMs: wait ? limits.session.waitTurnMs : 0,
        waitRunMs: wait ? limits.session.waitRunMs : 0,
      };
      const running = this.#agent.runSessionCommand(id, { sessionId, commandId, command, ...waits }, signal);
      const shown = { agent: this.#agent, sandboxId: id, sessionId, commandId, signal };
      const result = await (wait && live ? shownWhile({ ...shown, live }, running) : running);
      if (result.status === 'closed') throw closed(sessionId);
      return { ...result, status: result.status, commandId };
    });
  }

  /** Returns all kept output of a command, once it has ended or the wait is over. */
  logs(
    caller: User,
    reference: Reference,
    { sessionId, commandId, waitMs }: { sessionId: string; commandId: string; waitMs: number },
    signal?: AbortSignal,
  ): Promise<SessionCommandLogs> {
    return this.#uses.run(caller, reference, async ({ id }) => {
      if (waitMs > 0) {
        const end = { sessionId, commandId, waitMs, offset: Number.MAX_SAFE_INTEGER };
        await this.#agent.followSessionCommand(id, end, signal);
      }
      return this.#agent.sessionCommandLogs(id, sessionId, commandId);
    });
  }

  /**
   * Returns the output of a command after an offset, once there is more of it, the command has ended, or the wait is
   * over.
   */
  follow(
    caller: User,
    reference: Reference,
    request: { sessionId: string; commandId: string; offset: number; waitMs: number },
    signal?: AbortSignal,
  ): Promise<FollowedCommand> {
    return this.#uses.run(caller, reference, ({ id }) =>
      this.#agent.followSessionCommand(id, request, signal),
    );
  }

  /**
   * Sends input to a running command; a newline is appended.
   * @returns The output that followed, after a wait for it.
   */
  sendInput(
    caller: User,
    reference: Reference,
    request: { sessionId: string; commandId: string; input: string; waitMs: number },
    signal?: AbortSignal,
  ): Promise<FollowedCommand | null> {
    return this.#uses.run(caller, reference, async ({ id }) => {
      const { waitMs, input, ...command } = request;
      const known = { ...command, offset: Number.MAX_SAFE_INTEGER, waitMs: 0 };
      const before = waitMs > 0 ? await this.#agent.followSessionCommand(id, known, signal) : null;
      const status = await this.#agent.sendSessionInput(id, { ...command, input }, signal);
      if (status !== 'running') throw notRunning(request.commandId, status);
      if (before === null) return null;
      const after = { ...command, offset: before.nextOffset, waitMs };
      return this.#agent.followSessionCommand(id, after, signal);
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
