/** Shells inside a machine that outlive calls and the service; the agent holds them, their queues and their logs. */
import type { AsUser, LivePiece } from './processes.ts';

export interface SessionCommandSummary {
  commandId: string;
  /** Beginning of the command's text. */
  command: string;
  status: SessionCommandStatus;
  /** null until it has ended. */
  exitCode: number | null;
}

export type SessionCommandStatus = 'queued' | 'running' | 'completed';

export interface SessionSummary {
  sessionId: string;
  createdAtMs: number;
  /** Newest first. */
  recentCommands: SessionCommandSummary[];
}

export interface SessionsOverview {
  /** Active sessions, oldest first. */
  sessions: SessionSummary[];
  /** true: a command waits or runs in one of them. */
  busy: boolean;
  /** Time since a command last ended; null when none ever has. */
  idleMs: number | null;
}

export interface SessionCommandResult {
  /** `closed`: the session accepts no commands any more, and rejected this one. */
  status: SessionCommandStatus | 'closed';
  exitCode: number | null;
  output: string;
}

export interface SessionCommandLogs {
  status: SessionCommandStatus;
  /** null until it has ended, and where a stop of the sandbox ended it. */
  exitCode: number | null;
  output: string;
  stdout: string;
  stderr: string;
  truncated: boolean;
  /** Offset from which to continue; null from an agent that cannot follow. */
  nextOffset: number | null;
}

/** Output of a command after an offset, in bytes of its output. */
export interface FollowedCommand extends SessionCommandStand {
  truncated: boolean;
  nextOffset: number;
}

/** With the same output as it was printed; all of it as stdout, unless its streams were asked for. */
export interface FollowedBytes extends FollowedCommand {
  pieces: LivePiece[];
}

export interface SessionCommandStand {
  status: SessionCommandStatus;
  /** null until it has ended. */
  exitCode: number | null;
  output: string;
}

/**
 * Errors: `not_found` with `resource` `session` or `command`; `already_exists` for the id of an active session;
 * `resource_exhausted` past a bound; `failed_precondition` with `resource` `interpreter` without bash.
 */
export interface AgentSessions {
  createSession(
    id: string,
    request: AsUser & { sessionId: string; cwd: string; env: Record<string, string> },
    signal?: AbortSignal,
  ): Promise<{ createdAtMs: number }>;
  /** Resolves when all that the session has started has ended; its logs are gone. */
  deleteSession(id: string, sessionId: string, signal?: AbortSignal): Promise<void>;
  listSessions(id: string, options?: { timeoutMs?: number }): Promise<SessionsOverview>;
  /** Resolves when the command has ended, or when a wait is over. Aborting the signal ends the wait only. */
  runSessionCommand(
    id: string,
    request: {
      sessionId: string;
      commandId: string;
      command: string;
      waitTurnMs: number;
      waitRunMs: number;
    },
    signal?: AbortSignal,
  ): Promise<SessionCommandResult>;
  sessionCommandLogs(id: string, sessionId: string, commandId: string): Promise<SessionCommandLogs>;
  /**
   * Resolves when the command has ended, when it has printed past the offset and paused, or when the wait is over. An
   * offset past all output waits for the command's end alone.
   */
  followSessionCommand(
    id: string,
    request: { sessionId: string; commandId: string; offset: number; waitMs: number },
    signal?: AbortSignal,
  ): Promise<FollowedCommand>;
  /** Like `followSessionCommand`. Of an agent of an earlier version a piece that has a gap is left out, all of it. */
  followSessionBytes(
    id: string,
    request: {
      sessionId: string;
      commandId: string;
      offset: number;
      waitMs: number;
      generation: number;
      /** true: each piece names its stream; an agent before version 7 knows of stdout alone. */
      streams?: boolean;
    },
    signal?: AbortSignal,
  ): Promise<FollowedBytes>;
  /** Returns the command's status; the input, with a newline unless `asIs`, is sent only to a running command. */
  sendSessionInput(
    id: string,
    request: { sessionId: string; commandId: string; input: string; asIs?: boolean },
    signal?: AbortSignal,
  ): Promise<SessionCommandStatus>;
}

/** A command of a session that a stop has closed. */
export interface KeptCommand extends Omit<SessionCommandLogs, 'status'> {
  commandId: string;
}

/** Sessions beyond the agent that held them, until their sandbox is deleted. */
export interface SessionStore {
  /** Notes that a session was made; of one sandbox the newest `limits.session.noted` stay noted. */
  note(sandboxId: string, sessionId: string, createdAtMs: number): Promise<void>;
  /** A session is as if it had never been made. */
  forget(sandboxId: string, sessionId: string): Promise<void>;
  /** Returns true when such a session was made, and with no id when any was. */
  knows(sandboxId: string, sessionId?: string): Promise<boolean>;
  /** Keeps the logs of noted sessions. */
  keepLogs(sandboxId: string, logs: ReadonlyMap<string, KeptCommand[]>): Promise<void>;
  /** Returns the kept logs of a session; none when there are none, or no session. */
  logs(sandboxId: string, sessionId: string): Promise<KeptCommand[]>;
  /** Drops all kept logs of a sandbox; its sessions stay noted. */
  dropLogs(sandboxId: string): Promise<void>;
}
