/**
 * Queue of operations for each sandbox. A delete pre-empts: it rejects the waiting operations, cancels the running one,
 * and runs next.
 */
import { KeyedQueue } from '../../concurrency/keyed-queue.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';

export type OperationQueue = KeyedQueue;

export function createOperationQueue(): OperationQueue {
  return new KeyedQueue({
    maxWaiting: limits.queuedOperations,
    full: tooMany,
    preempted: beingDeleted,
    rejectsWhilePreempting: true,
  });
}

function tooMany(): SandhavenError {
  return new SandhavenError('resource_exhausted', 'Too many operations wait for this sandbox.', {
    hint: 'Wait for the earlier ones to end, then try again.',
    retryable: true,
  });
}

function beingDeleted(): SandhavenError {
  return new SandhavenError('invalid_state', 'The sandbox is being deleted.', {
    parameter: 'sandbox',
    hint: 'Create another sandbox.',
  });
}
