/** Shells inside a machine that outlive calls and the service; they, their queues and logs live with the agent. */

export interface SessionCommandSummary {
  commandId: string;
  /** Its beginning. */
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
  /** Active ones, oldest first. */
  sessions: SessionSummary[];
  /** Whether a command waits or runs in any of them. */
  busy: boolean;
  /** Since when no command has ended; null when none ever has. */
  idleMs: number | null;
}

export interface SessionCommandResult {
  /** `closed`: the session takes no commands any more, and this one was not taken. */
  status: SessionCommandStatus | 'closed';
  exitCode: number | null;
  output: string;
}

export interface SessionCommandLogs {
  status: SessionCommandStatus;
  exitCode: number | null;
  output: string;
  stdout: string;
  stderr: string;
  truncated: boolean;
  /** Where to follow on from; null from an agent that knows of no following. */
  nextOffset: number | null;
}

/** What a command has printed from an offset on, in bytes of its output. */
export interface FollowedCommand extends SessionCommandStand {
  truncated: boolean;
  nextOffset: number;
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
    request: { sessionId: string; cwd: string; env: Record<string, string> },
    signal?: AbortSignal,
  ): Promise<{ createdAtMs: number }>;
  listSessions(id: string, options?: { timeoutMs?: number }): Promise<SessionsOverview>;
  /** Answers when the command has ended, or when a wait is over. Aborting the signal ends the wait only. */
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
   * Answers when the command has ended, when it has printed past the offset and paused, or when the wait is over. Past
   * all that there is, only the command's end is waited for.
   */
  followSessionCommand(
    id: string,
    request: { sessionId: string; commandId: string; offset: number; waitMs: number },
    signal?: AbortSignal,
  ): Promise<FollowedCommand>;
  /** The command's status when it was asked: the input, with a newline, was sent only to one that runs. */
  sendSessionInput(
    id: string,
    request: { sessionId: string; commandId: string; input: string },
    signal?: AbortSignal,
  ): Promise<SessionCommandStatus>;
}
