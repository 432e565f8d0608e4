/**
 * Sessions of a sandbox: shells that persist between calls. The agent inside holds their state; the store knows of those
 * that ended with it.
 */
import { concerns, SandhavenError } from '../../model/errors.ts';
import { newCommandId, newSessionId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import type { User } from '../../model/user.ts';
import type {
  AgentSessions,
  AsUser,
  FollowedCommand,
  KeptCommand,
  LiveOutput,
  SessionCommandLogs,
  SessionCommandStatus,
  SessionStore,
  SessionSummary,
} from '../ports/index.ts';
import type { Environments } from '../reach/environment.ts';
import { shownWhile, showPieces } from './follow-session.ts';
import { folderOf, type SandboxUses, userOf } from './sandbox-uses.ts';

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
  readonly #uses: SandboxUses;
  readonly #agent: AgentSessions;
  readonly #environments: Environments;
  readonly #store: SessionStore;

  constructor(uses: SandboxUses, agent: AgentSessions, environments: Environments, store: SessionStore) {
    this.#uses = uses;
    this.#agent = agent;
    this.#environments = environments;
    this.#store = store;
  }

  create(
    caller: User,
    reference: Reference,
    { sessionId = newSessionId(), ...call }: AsUser & { sessionId?: string | undefined } = {},
    signal?: AbortSignal,
  ): Promise<{ sessionId: string; createdAtMs: number }> {
    return this.#uses.run(caller, reference, async (sandbox) => {
      const user = userOf(sandbox, call);
      // Standard input is a terminal that offers programs no more than lines of text.
      const env = { TERM: 'dumb', ...(await this.#environments.of(sandbox, { user })) };
      const request = { user, sessionId, cwd: folderOf(sandbox, undefined), env };
      const { createdAtMs } = await this.#agent.createSession(sandbox.id, request, signal);
      await this.#store.note(sandbox.id, sessionId, createdAtMs);
      return { sessionId, createdAtMs };
    });
  }

  /** Ends all that the session has started, and forgets its logs. */
  delete(caller: User, reference: Reference, sessionId: string, signal?: AbortSignal): Promise<void> {
    return this.#uses.run(caller, reference, async ({ id }) => {
      try {
        await this.#agent.deleteSession(id, sessionId, signal);
      } catch (error) {
        if (!(await this.#isGone(id, sessionId, error))) throw error;
      }
      await this.#store.forget(id, sessionId);
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
    return this.#uses.run(caller, reference, async (sandbox) => {
      const { id } = sandbox;
      const { sessionId, command, wait, live } = request;
      const commandId = newCommandId();
      const waits = {
        waitTurnMs: wait ? limits.session.waitTurnMs : 0,
        waitRunMs: wait ? limits.session.waitRunMs : 0,
      };
      const running = this.#agent.runSessionCommand(id, { sessionId, commandId, command, ...waits }, signal);
      const generation = generationOf(sandbox);
      const shown = { agent: this.#agent, sandboxId: id, generation, sessionId, commandId, signal };
      const waited = wait && live ? shownWhile({ ...shown, live }, running) : running;
      const result = await this.#orClosed(id, sessionId, waited);
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
    const read = async ({ id }: Sandbox) => {
      if (waitMs > 0) {
        const end = { sessionId, commandId, waitMs, offset: Number.MAX_SAFE_INTEGER };
        await this.#agent.followSessionCommand(id, end, signal);
      }
      return this.#agent.sessionCommandLogs(id, sessionId, commandId);
    };
    return this.#orKept(caller, reference, { sessionId, commandId }, read, asEnded);
  }

  /**
   * Returns the output of a command after an offset, once there is more of it, the command has ended, or the wait is
   * over.
   * @param request `live` receives that output too, as bytes, when it wants the whole of it.
   */
  follow(
    caller: User,
    reference: Reference,
    request: {
      sessionId: string;
      commandId: string;
      offset: number;
      waitMs: number;
      live?: LiveOutput;
      /** With a `live` that wants the whole: each piece names its stream. */
      streams?: boolean;
    },
    signal?: AbortSignal,
  ): Promise<FollowedCommand> {
    const read = async (sandbox: Sandbox) => {
      const { live, streams, ...wanted } = request;
      if (!live?.whole) return this.#agent.followSessionCommand(sandbox.id, wanted, signal);
      const asked = { ...wanted, generation: generationOf(sandbox), ...(streams ? { streams } : {}) };
      const { pieces, ...followed } = await this.#agent.followSessionBytes(sandbox.id, asked, signal);
      await showPieces(live, pieces);
      return followed;
    };
    return this.#orKept(caller, reference, request, read, (kept) => keptAfter(kept, request.offset));
  }

  /**
   * Sends input to a running command; a newline is appended, unless it goes `asIs`.
   * @returns The output that followed, after a wait for it.
   */
  sendInput(
    caller: User,
    reference: Reference,
    request: { sessionId: string; commandId: string; input: string; asIs?: boolean; waitMs: number },
    signal?: AbortSignal,
  ): Promise<FollowedCommand | null> {
    return this.#uses.run(caller, reference, async ({ id }) => {
      const { waitMs, input, asIs = false, ...command } = request;
      const known = { ...command, offset: Number.MAX_SAFE_INTEGER, waitMs: 0 };
      const send = async () => {
        const before = waitMs > 0 ? await this.#agent.followSessionCommand(id, known, signal) : null;
        return {
          before,
          status: await this.#agent.sendSessionInput(id, { ...command, input, asIs }, signal),
        };
      };
      const { before, status } = await this.#orClosed(id, request.sessionId, send());
      if (status !== 'running') throw notRunning(request.commandId, status);
      if (before === null) return null;
      const after = { ...command, offset: before.nextOffset, waitMs };
      return this.#agent.followSessionCommand(id, after, signal);
    });
  }

  /** A session that was made here, and that the agent no longer knows, is closed. */
  async #orClosed<T>(sandboxId: string, sessionId: string, work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw (await this.#isGone(sandboxId, sessionId, error)) ? closed(sessionId) : error;
    }
  }

  /** Reads a log from the agent, or of a stopped sandbox the one that the stop has kept. */
  async #orKept<T>(
    caller: User,
    reference: Reference,
    { sessionId, commandId }: { sessionId: string; commandId: string },
    read: (sandbox: Sandbox) => Promise<T>,
    shown: (kept: KeptCommand) => T,
  ): Promise<T> {
    try {
      return await this.#uses.run(caller, reference, async (sandbox) => {
        try {
          return await read(sandbox);
        } catch (error) {
          throw (await this.#isGone(sandbox.id, sessionId, error)) ? noLogs(sessionId) : error;
        }
      });
    } catch (error) {
      if (!(error instanceof SandhavenError) || error.code !== 'invalid_state') throw error;
      const { id } = await this.#uses.find(caller, reference);
      const kept = (await this.#store.logs(id, sessionId)).find((command) => command.commandId === commandId);
      if (kept) return shown(kept);
      throw (await this.#store.knows(id, sessionId)) ? noLogs(sessionId) : error;
    }
  }

  async #isGone(sandboxId: string, sessionId: string, error: unknown): Promise<boolean> {
    return concerns(error, 'session') && this.#store.knows(sandboxId, sessionId);
  }
}

function asEnded({ commandId: _, ...log }: KeptCommand): SessionCommandLogs {
  return { status: 'completed', ...log };
}

/** A log that has lost its middle, or a byte that was no text, has no offsets any more: all of it is shown. */
function keptAfter(
  { exitCode, output, truncated, nextOffset }: KeptCommand,
  offset: number,
): FollowedCommand {
  const bytes = Buffer.from(output);
  const end = nextOffset ?? bytes.length;
  const isWhole = end === bytes.length;
  const rest = offset >= end ? '' : bytes.toString('utf8', isWhole ? offset : 0);
  return {
    status: 'completed',
    exitCode,
    output: rest,
    truncated: truncated && rest !== '',
    nextOffset: end,
  };
}

/** Logs end with the start of the sandbox after the stop, or where there was no room to keep them. */
function noLogs(sessionId: string): SandhavenError {
  return new SandhavenError(
    'not_found',
    `Session '${sessionId}' is closed, and its logs are no longer kept.`,
    {
      parameter: 'command_id',
      resource: 'command',
      hint: 'Read logs before the sandbox is started again, or write them to files.',
    },
  );
}

function generationOf({ runGeneration, generation }: Sandbox): number {
  return runGeneration ?? generation;
}

function closed(sessionId: string): SandhavenError {
  return new SandhavenError(
    'invalid_state',
    `Session '${sessionId}' is closed: its shell has ended, or the sandbox was stopped.`,
    {
      parameter: 'session_id',
      hint: 'Make another with Sandbox.CreateSession; the same session_id may be used again.',
    },
  );
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
