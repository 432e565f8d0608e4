/** Failures of the API, and the errors that callers get for them. */
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';

/** An answer of the API server that is no success. */
export class ApiFailure extends Error {
  readonly status: number;
  /** Word of the API, such as AlreadyExists; empty when the answer has none. */
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.name = 'ApiFailure';
    this.status = status;
    this.reason = reason;
  }
}

export const isMissing = (error: unknown): boolean => error instanceof ApiFailure && error.status === 404;

/** The object is not the one that was meant, or has changed since it was read. */
export const isConflict = (error: unknown): boolean => error instanceof ApiFailure && error.status === 409;

/** An object of this name is there already. */
export const isThere = (error: unknown): boolean => isConflict(error) && reasonOf(error) === 'AlreadyExists';

/** Another creation has changed a quota in the same moment, and nothing was made. */
export const isBusy = (error: unknown): boolean => isConflict(error) && reasonOf(error) === 'Conflict';

const reasonOf = (error: unknown): string => (error instanceof ApiFailure ? error.reason : '');

/** The list that a watch wants to go on from is too old. */
export const isExpired = (error: unknown): boolean => error instanceof ApiFailure && error.status === 410;

/** @param what Failure as a sentence for the caller, such as "The machine could not be started." */
export function fromApi(error: unknown, what: string): SandhavenError {
  if (error instanceof SandhavenError) return error;
  if (!(error instanceof ApiFailure)) {
    const hint = "Try again; when it fails again, the service's log has the cause.";
    return new SandhavenError('unavailable', `${what} Kubernetes does not answer.`, { hint }, error);
  }
  const { status, message } = error;
  if (status === 403 && /exceeded quota|maximum .* usage|enough allocatable/i.test(message)) {
    return new SandhavenError(
      'resource_exhausted',
      `${what} There is no room: ${bounded(message)}`,
      { hint: 'Stop or delete a sandbox, or ask the operator for a larger quota.', retryable: true },
      error,
    );
  }
  if (status === 403 || status === 401) {
    return new SandhavenError(
      'unavailable',
      `${what} Kubernetes refuses it to the service.`,
      {
        hint: "The operator finds the reason in the service's log: a permission, or a policy of the namespace.",
        retryable: false,
      },
      error,
    );
  }
  if (status === 422 || status === 400) {
    return new SandhavenError(
      'unavailable',
      `${what} Kubernetes does not take it: ${bounded(message)}`,
      { hint: 'Ask the operator: the settings of the service do not fit this cluster.', retryable: false },
      error,
    );
  }
  return new SandhavenError('unavailable', `${what} Kubernetes answers: ${bounded(message)}`, {}, error);
}

/** Text of another program for an error: one line, not too long. */
export function bounded(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
  const { reasonChars } = limits.kubernetes;
  return line.length > reasonChars ? `${line.slice(0, reasonChars)}…` : line;
}
