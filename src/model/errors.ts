/**
 * The one error class that callers see, and the one table from its code to every transport.
 *
 * Invariant: anything but a SandhavenError is a defect; surfaces answer it as `internal` and keep its message private.
 */

export const errorTable = {
  invalid_argument: { status: 400, exit: 2, title: 'Invalid argument' },
  ambiguous_sandbox: { status: 400, exit: 2, title: 'Ambiguous sandbox' },
  unauthenticated: { status: 401, exit: 3, title: 'Unauthenticated' },
  authorization_required: { status: 401, exit: 3, title: 'Authorization required' },
  permission_denied: { status: 403, exit: 3, title: 'Permission denied' },
  not_found: { status: 404, exit: 4, title: 'Not found' },
  already_exists: { status: 409, exit: 5, title: 'Already exists' },
  invalid_state: { status: 409, exit: 5, title: 'Invalid state' },
  failed_precondition: { status: 412, exit: 5, title: 'Failed precondition' },
  too_large: { status: 413, exit: 6, title: 'Too large' },
  resource_exhausted: { status: 429, exit: 6, title: 'Resource exhausted' },
  timeout: { status: 504, exit: 7, title: 'Timeout' },
  unavailable: { status: 503, exit: 7, title: 'Unavailable' },
  internal: { status: 500, exit: 1, title: 'Internal error' },
} as const;

export type ErrorCode = keyof typeof errorTable;

export interface ErrorFields {
  /** The next step, in words that an agent can act on. */
  hint?: string;
  /** The parameter at fault, as the caller spelled it. */
  parameter?: string;
  /** The kind of the missing resource: "sandbox", "snapshot", "file" … */
  resource?: string;
  /** true: the same call may succeed later; by default only for `unavailable`. */
  retryable?: boolean;
  /** Page where a person grants the authorization, once; with `authorization_required`. */
  authorization_url?: string;
  /** Seconds until the same call will be accepted, for a call that was refused before any work. */
  retry_after_seconds?: number;
}

/** RFC 9457 problem details, the same object on every transport. */
export interface Problem extends ErrorFields {
  type: 'about:blank';
  title: string;
  status: number;
  code: ErrorCode;
  detail: string;
  retryable: boolean;
  request_id: string;
}

export class SandhavenError extends Error {
  readonly code: ErrorCode;
  readonly fields: ErrorFields;

  /** @param detail The fault, for the caller, so it holds no secret and no path of the host. */
  constructor(code: ErrorCode, detail: string, fields: ErrorFields = {}, cause?: unknown) {
    super(detail, cause === undefined ? undefined : { cause });
    this.name = 'SandhavenError';
    this.code = code;
    this.fields = fields;
  }
}

/**
 * Returns true for a fault of the service itself: only those are errors in its log.
 * @param isCallerGone The caller has left, or has called the work off, whose end is then of any kind.
 */
export function isDefect(error: unknown, isCallerGone: boolean): boolean {
  return !isCallerGone && !(error instanceof SandhavenError);
}

/** Returns the problem document for any thrown value. */
export function toProblem(error: unknown, requestId: string): Problem {
  const known =
    error instanceof SandhavenError
      ? error
      : new SandhavenError('internal', 'An internal error occurred.', {
          hint: `Report request_id ${requestId}; the service's log has the cause.`,
        });
  const { status, title } = errorTable[known.code];
  return {
    type: 'about:blank',
    title,
    status,
    code: known.code,
    detail: known.message,
    ...known.fields,
    retryable: known.fields.retryable ?? known.code === 'unavailable',
    request_id: requestId,
  };
}

export function invalidArgument(parameter: string, detail: string, hint?: string): SandhavenError {
  return new SandhavenError('invalid_argument', detail, hint ? { parameter, hint } : { parameter });
}

export function notFound(resource: string, detail: string, hint?: string): SandhavenError {
  return new SandhavenError('not_found', detail, hint ? { resource, hint } : { resource });
}

/** The error of work that its caller canceled, or that a later call pre-empted. */
export function canceled(cause?: unknown): SandhavenError {
  return new SandhavenError('unavailable', 'The operation was canceled.', { hint: 'Try again.' }, cause);
}

/** Recognizes the errors of `AbortSignal.throwIfAborted` without a reason of ours. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && (error.name === 'AbortError' || error.name === 'TimeoutError');
}

/** The kinds of things that faults of an agent are about. `make generate` gives the agent the same words. */
export const agentResources = [
  'command',
  'connection',
  'context',
  'file',
  'folder',
  'host',
  'interpreter',
  'port',
  'process',
  'session',
  'terminal',
] as const;

export type AgentResource = (typeof agentResources)[number];

/** Returns true for a fault about a thing of that kind in the sandbox. */
export function concerns(error: unknown, resource: AgentResource): boolean {
  return error instanceof SandhavenError && error.fields.resource === resource;
}
