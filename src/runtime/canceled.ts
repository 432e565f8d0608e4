/** The end of work that its caller gave up, or that a later call pre-empted. */
import { SandhavenError } from '../model/errors.ts';

export function canceled(cause?: unknown): SandhavenError {
  return new SandhavenError('unavailable', 'The operation was canceled.', { hint: 'Try again.' }, cause);
}

/** Error of `AbortSignal.throwIfAborted` for a signal without a reason of its own. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && (error.name === 'AbortError' || error.name === 'TimeoutError');
}
