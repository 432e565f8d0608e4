/** Processes inside a machine that outlive their caller; the agent holds them, and the last of what they printed. */
import type { LivePiece, ProcessEnd, ProcessRequest, TerminalSize } from './processes.ts';

export interface DetachedRequest extends ProcessRequest {
  /** Another name beside the pid, of which no other running process has one alike. */
  tag?: string | undefined;
  /** Shown in lists. */
  label: string;
  timeoutMs: number;
}

export interface DetachedEnd extends ProcessEnd {
  timedOut: boolean;
}

export interface DetachedSummary {
  pid: number;
  tag: string | null;
  label: string;
  startedAtMs: number;
  terminal: TerminalSize | null;
  viewers: number;
  /** Bytes printed so far, of both streams together. */
  outputBytes: number;
  /** null: it runs. */
  end: (DetachedEnd & { endedAtMs: number }) | null;
}

export interface DetachedOverview {
  /** Oldest first. */
  processes: DetachedSummary[];
  /** true: one of them runs. */
  busy: boolean;
  idleMs: null;
}

/** Receives what one viewer sees, in order. */
export interface DetachedSink {
  /** The position of the first byte: later than asked for where output is forgotten. */
  begun(from: number): void;
  /** As that of `LiveOutput`; the program waits for its slowest viewer. */
  show(piece: LivePiece): Promise<void> | undefined;
}

/**
 * A process is named by its pid or its tag. Errors: `not_found` with `resource` `process`; `failed_precondition` for one
 * that has ended, and with `resource` `agent` from an agent that has no such processes; `resource_exhausted` past a bound.
 */
export interface AgentDetached {
  /** Rejects as `openProcess` does, and with `already_exists` and `parameter` `tag` for the tag of a running one. */
  startDetached(
    id: string,
    request: DetachedRequest,
    signal?: AbortSignal,
  ): Promise<{ pid: number; startedAtMs: number }>;
  listDetached(id: string, options?: { timeoutMs?: number }): Promise<DetachedOverview>;
  /**
   * Resolves at the end of the process, once all is shown. Aborting the signal leaves it.
   * @param view `from` is the position of the first wanted byte; null for the oldest that is kept.
   */
  viewDetached(
    id: string,
    view: { process: string; from: number | null },
    sink: DetachedSink,
    signal?: AbortSignal,
  ): Promise<DetachedEnd>;
  /** Resolves once the program's standard input has taken all of it. `close` ends that input afterwards. */
  writeDetached(
    id: string,
    process: string,
    bytes: Buffer,
    options: { close: boolean },
    signal?: AbortSignal,
  ): Promise<void>;
  /** Sends a signal by name, such as `TERM`; `invalid_argument` with `parameter` `signal` for an unknown one. */
  signalDetached(id: string, process: string, signal: string): Promise<void>;
  /** Rejects with `failed_precondition` without a terminal. */
  resizeDetached(id: string, process: string, size: TerminalSize): Promise<void>;
  /** Kills the whole tree, waits for its end, and forgets it. */
  endDetached(id: string, process: string, signal?: AbortSignal): Promise<void>;
}
