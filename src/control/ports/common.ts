/** Types that several ports share: time, a log, progress, cancellation, pages, quotas. */
import type { Quota } from '../../model/quota.ts';

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

export interface Page {
  /** From 1. */
  page: number;
  pageSize: number;
}

/**
 * What an owner may have. A method that is given one fails with `resource_exhausted`, and changes nothing, when it would
 * take the owner over the quota: what is counted and what is changed are one transaction.
 */
export interface Allowance {
  ownerId: string;
  quota: Quota;
}
