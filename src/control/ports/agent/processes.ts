/** Programs that run inside a machine, their live output, and terminals that go on without viewers. */
import type { Readable, Writable } from 'node:stream';
import type { OutputPiece } from '../../../model/output-text.ts';

/**
 * Work as a Linux user of the sandbox: a name, or a number as text. It has the rights and groups of the user, who owns
 * what it makes; its relative paths start in the user's home, which `~` and `~/…` mean too. The agent makes an account
 * that is missing, and adds HOME, USER, LOGNAME and SHELL to an environment that lacks them. Absent: root, as ever;
 * in a call of a service also null, whatever the user of the sandbox is. Rejects with `failed_precondition` and `resource` `agent` from an agent before version 7.
 */
export interface AsUser {
  user?: string | null | undefined;
}

export interface TerminalSize {
  columns: number;
  rows: number;
}

export interface ProcessRequest extends AsUser {
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
  openSftp(id: string, request?: AsUser, signal?: AbortSignal): Promise<RunningProcess>;
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
  /** Takes a rich result, in its place between the pieces. The result has it too. */
  display?(shown: Display): void;
}

/** Something that code in a context shows: the same in several forms, by media type. Binary data is base64. */
export interface Display {
  /** `result`: the value of the last expression. */
  type: 'result' | 'display';
  data: Record<string, unknown>;
  /** Data of a matplotlib figure, as those of `Chart`. */
  chart?: Record<string, unknown> | undefined;
}

/** A wish for live output, which an agent of an earlier version cannot fulfil, or not wholly. */
export interface LiveRequest {
  output: LiveOutput;
  /** Generation of the sandbox's run, which tells its agent from those before. */
  generation: number;
}

/**
 * Terminals inside a machine that go on without viewers; the agent holds them and the last of what they printed. The user
 * is that of a terminal that is not there yet.
 */
export interface TerminalRequest extends AsUser {
  terminalId: string;
  /** Size of the viewer; null for one that shows whatever size there is. */
  size: TerminalSize | null;
  /** Program of a terminal that is not there yet; null looks at an existing one alone. */
  create: { argv: string[]; cwd: string; env: Record<string, string> } | null;
}

/** Receives what one viewer sees, in order. Each method returns false when no more fits, until `resume`. */
export interface TerminalSink {
  data(bytes: Buffer): boolean;
  /** So many bytes are left out here: this viewer was too slow. */
  skipped(bytes: number): boolean;
  /** The terminal has another size now: that of the viewer who was last at work. */
  resized(size: TerminalSize): boolean;
}

/** One viewer's end of a terminal. */
export interface TerminalView {
  /** true: this viewer made the terminal. */
  created: boolean;
  createdAtMs: number;
  size: TerminalSize;
  /** So many of the first bytes are from before. */
  scrollbackBytes: number;
  /** Has backpressure all the way to the program. */
  input: Writable;
  /** Begins to deliver; to be called once. */
  show(sink: TerminalSink): void;
  resume(): void;
  resize(size: TerminalSize): void;
  /** Resolves when the terminal's shell has ended and all was delivered; rejects with `unavailable` without agent. */
  ended: Promise<ProcessEnd>;
  /** Leaves; the terminal goes on. */
  detach(): void;
}

export interface TerminalSummary {
  terminalId: string;
  createdAtMs: number;
  size: TerminalSize;
  viewers: number;
  /** Name of the program in the foreground; empty when unknown. */
  program: string;
  /** true: a program other than the shell is in the foreground. */
  busy: boolean;
}

export interface TerminalsOverview {
  /** Oldest first. */
  terminals: TerminalSummary[];
  /** true: one of them is busy. */
  busy: boolean;
  /** Time since something was typed, or a program in the foreground printed; null when neither ever happened. */
  idleMs: number | null;
}

/**
 * Errors: `not_found` with `resource` `terminal`; `resource_exhausted` past a bound; `failed_precondition` with
 * `resource` `interpreter` without the program, and with `resource` `agent` from an agent before version 4.
 */
export interface AgentTerminals {
  /** Resolves when the viewer is in; aborting the signal detaches it at any time. */
  openTerminal(id: string, request: TerminalRequest, signal?: AbortSignal): Promise<TerminalView>;
  listTerminals(id: string, options?: { timeoutMs?: number }): Promise<TerminalsOverview>;
  /** Hangs up on what runs in it, kills what stays, and resolves when the terminal is gone. */
  endTerminal(id: string, terminalId: string, signal?: AbortSignal): Promise<void>;
}
