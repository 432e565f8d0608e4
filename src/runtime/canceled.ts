/** Errors of work that its caller canceled, or that a later call pre-empted. */
import { SandhavenError } from '../model/errors.ts';

export function canceled(cause?: unknown): SandhavenError {
  return new SandhavenError('unavailable', 'The operation was canceled.', { hint: 'Try again.' }, cause);
}

/** Recognizes the errors of `AbortSignal.throwIfAborted` without a reason of ours. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && (error.name === 'AbortError' || error.name === 'TimeoutError');
}
