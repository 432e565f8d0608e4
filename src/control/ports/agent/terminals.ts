/** Terminals inside a machine that go on without viewers; the agent holds them and the last of what they printed. */
import type { Writable } from 'node:stream';
import type { ProcessEnd, TerminalSize } from './processes.ts';

export interface TerminalRequest {
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
