/** Programs inside a machine that run while the host talks with them. */
import type { Readable, Writable } from 'node:stream';

export interface TerminalSize {
  columns: number;
  rows: number;
}

export interface ProcessRequest {
  argv: string[];
  /** Absolute, or relative to the sandbox root. */
  cwd: string;
  env: Record<string, string>;
  /** With a terminal all output comes as `stdout`. */
  terminal?: TerminalSize;
}

export interface ProcessEnd {
  exitCode: number;
  /** `SIGKILL`, say, when a signal ended it; `exitCode` is 128 and its number then. */
  signal: string | null;
}

/** Streams have backpressure all the way to the program. */
export interface RunningProcess {
  /** Ending it is the program's end of input (with a terminal: hanging up is `close`). */
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
  resize(size: TerminalSize): void;
  /** To the program's process group, by name: `INT`, `TERM`, `HUP` …; unknown names are ignored. */
  signal(name: string): void;
  /** Once its own process has ended; rejects with `unavailable` when the agent goes away. */
  ended: Promise<ProcessEnd>;
  /** Kills the whole tree if it still runs. */
  close(): void;
}

export interface AgentProcesses {
  /**
   * Resolves when the program runs. `failed_precondition` with `resource` `interpreter` when it is not there,
   * `not_found` with `parameter` `cwd`. Aborting the signal kills the whole tree.
   */
  openProcess(id: string, request: ProcessRequest, signal?: AbortSignal): Promise<RunningProcess>;
  /** The agent's own SFTP server (version 3) on its `stdin` and `stdout`; relative paths start at the sandbox root. */
  openSftp(id: string, signal?: AbortSignal): Promise<RunningProcess>;
}
