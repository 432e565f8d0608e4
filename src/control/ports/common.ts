/** Types that several ports share: time, a log, progress, cancellation, pages, quotas. */
import type { Quota } from '../../model/quota.ts';

/** Milliseconds since the epoch; logic never reads the clock itself. */
export interface Clock {
  now(): number;
}

/** Log of the service, one line for each event; `context` never holds a secret, a path of the host or contents. */
export interface Log {
  info(message: string, context?: Record<string, unknown>): void;
  warn(message: string, context?: Record<string, unknown>): void;
  error(message: string, context?: Record<string, unknown>): void;
}

/** Progress of long work: a message for people, and the position where it is known. */
export type OnProgress = (progress: { message: string; done?: number; total?: number }) => void;

export interface CallOptions {
  signal?: AbortSignal;
  onProgress?: OnProgress;
}

/** A pull counts towards the share of its owner, by default the service's own. */
export interface PullOptions extends CallOptions {
  owner?: string;
}

export interface Page {
  /** From 1. */
  page: number;
  pageSize: number;
}

/**
 * Quota of an owner. A method with an allowance rejects with `resource_exhausted`, and changes nothing, when the change
 * would exceed the quota: the count and the change are one transaction.
 */
export interface Allowance {
  ownerId: string;
  quota: Quota;
}
