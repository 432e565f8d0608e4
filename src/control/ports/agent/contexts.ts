/** Contexts inside a machine: interpreters that keep the variables of the code that they ran; the agent holds them. */
import type { ContextLanguage } from '../../../model/sandbox.ts';
import type { AsUser, Display, LiveRequest } from './processes.ts';

export interface ContextRequest extends AsUser {
  contextId: string;
  language: ContextLanguage;
  cwd: string;
  env: Record<string, string>;
  /** Most memory of each of its processes; null without such a bound. */
  memoryMb: number | null;
  /** Ends a context of that id first. */
  replace: boolean;
}

export interface ContextSummary {
  contextId: string;
  language: ContextLanguage;
  /** null: root. */
  user: string | null;
  cwd: string;
  memoryMb: number | null;
  createdAtMs: number;
  runs: number;
  /** Code runs in it. */
  busy: boolean;
  /** The cause for which it has ended by itself; null while it lives. */
  end: string | null;
}

export interface ContextError {
  name: string;
  value: string;
  traceback: string;
}

export interface ContextResult {
  output: string;
  stdout: string;
  stderr: string;
  timedOut: boolean;
  truncated: boolean;
  durationMs: number;
  /** Counts the runs of the context, from 1 on. */
  run: number;
  displays: Display[];
  /** Displays that were too many or too large. */
  leftOut: number;
  error: ContextError | null;
  /** Of a shell's last command. */
  exitCode: number | null;
  /** The cause for which the context itself has ended; null while it lives. */
  end: string | null;
}

/**
 * Errors: `not_found` with `resource` `context`; `already_exists`; `failed_precondition` for a context that has ended or is
 * busy, with `resource` `interpreter` where the image has none, and with `resource` `agent` from an agent without contexts;
 * `resource_exhausted` past a bound.
 */
export interface AgentContexts {
  /** Resolves when its interpreter waits for code. */
  createContext(id: string, request: ContextRequest, signal?: AbortSignal): Promise<{ createdAtMs: number }>;
  listContexts(id: string): Promise<ContextSummary[]>;
  /** Resolves when the code has ended, or is interrupted at its timeout. Aborting the signal interrupts it. */
  runInContext(
    id: string,
    request: {
      contextId: string;
      code: string;
      /** Of this run alone. */
      env?: Record<string, string>;
      timeoutMs: number;
      live?: LiveRequest | undefined;
    },
    signal?: AbortSignal,
  ): Promise<ContextResult>;
  /** Interrupts the code that runs. Returns false where none does. */
  interruptContext(id: string, contextId: string): Promise<boolean>;
  /** Kills it with all that it has started, and forgets it. */
  deleteContext(id: string, contextId: string, signal?: AbortSignal): Promise<void>;
}
