/** Programs that run inside a machine, and live output. */
import type { Readable, Writable } from 'node:stream';
import type { OutputPiece } from '../../../model/output/output-text.ts';

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
  /** Name of the signal that ended it, such as `SIGKILL`; `exitCode` is then 128 plus its number. */
  signal: string | null;
}

/** Streams have backpressure all the way to the program. */
export interface RunningProcess {
  /** Its end is the program's end of input (with a terminal: hanging up is `close`). */
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
  resize(size: TerminalSize): void;
  /** Sends a signal to the program's process group, by name: `INT`, `TERM`, `HUP` …; ignores unknown names. */
  signal(name: string): void;
  /** Resolves once its own process has ended; rejects with `unavailable` when the agent goes away. */
  ended: Promise<ProcessEnd>;
  /** Kills the whole tree if it still runs. */
  close(): void;
}

export interface AgentProcesses {
  /**
   * Resolves when the program runs. Rejects with `failed_precondition` and `resource` `interpreter` for a missing
   * program, with `not_found` and `parameter` `cwd` for a missing folder. Aborting the signal kills the whole tree.
   */
  openProcess(id: string, request: ProcessRequest, signal?: AbortSignal): Promise<RunningProcess>;
  /**
   * Opens the agent's own SFTP server (version 3) on `stdin` and `stdout`; relative paths start at the sandbox root.
   */
  openSftp(id: string, signal?: AbortSignal): Promise<RunningProcess>;
}

/** Output of a program while it runs, beside its result, which has all of it that is kept. */
export type LivePiece = OutputPiece;

/** Receives live output in the order of the writes. */
export interface LiveOutput {
  /** true: every byte is wanted, and the program waits for its reader; false: nothing slows the program down. */
  readonly whole: boolean;
  /**
   * Takes a piece, and must not throw. Returns a promise, which never rejects, when no more is wanted before it
   * resolves; what is on its way comes still. Of one that is not `whole` the promise is ignored.
   */
  show(piece: LivePiece): Promise<void> | undefined;
}

/** A wish for live output, which an agent of an earlier version cannot fulfil, or not wholly. */
export interface LiveRequest {
  output: LiveOutput;
  /** Generation of the sandbox's run, which tells its agent from those before. */
  generation: number;
}
