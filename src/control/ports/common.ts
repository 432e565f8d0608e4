/** What every port may need: time, a log, progress, cancellation. */

/** Milliseconds since the epoch; logic never reads the clock itself. */
export interface Clock {
  now(): number;
}

/** One line of what happens; `context` never holds a secret, a path of the host or contents. */
export interface Log {
  info(message: string, context?: Record<string, unknown>): void;
  warn(message: string, context?: Record<string, unknown>): void;
  error(message: string, context?: Record<string, unknown>): void;
}

/** Progress of long work: a message for people, and how far it is where that is known. */
export type OnProgress = (progress: { message: string; done?: number; total?: number }) => void;

export interface CallOptions {
  signal?: AbortSignal;
  onProgress?: OnProgress;
}

/** What is pulled counts towards the share of its owner, by default the service's own. */
export interface PullOptions extends CallOptions {
  owner?: string;
}
