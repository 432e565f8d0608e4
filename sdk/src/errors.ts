/** The only error class that the client throws, for refused calls and for an unreachable service. */
import type { ErrorCode } from './generated.ts';

/** Problem details of a failed call, as in RFC 9457. */
export interface Problem {
  code: ErrorCode;
  /** 0 without a response from the service. */
  status: number;
  detail: string;
  hint?: string;
  parameter?: string;
  resource?: string;
  retryable: boolean;
  request_id?: string;
  authorization_url?: string;
  retry_after_seconds?: number;
}

export class SandhavenError extends Error {
  /** Code to decide by; `not_found`, `invalid_state` … */
  readonly code: ErrorCode;
  /** HTTP's status; 0 without a response from the service. */
  readonly status: number;
  /** Description of the error; the same as `message`. */
  readonly detail: string;
  /** Next step, in words that an agent can act on. */
  readonly hint: string | undefined;
  /** The parameter at fault. */
  readonly parameter: string | undefined;
  /** Kind of the missing resource. */
  readonly resource: string | undefined;
  /** True when the same call may succeed later. */
  readonly retryable: boolean;
  /** Finds the call in the service's log. */
  readonly requestId: string | undefined;
  /** URL where the user authorizes, once, for `authorization_required`. */
  readonly authorizationUrl: string | undefined;
  /** Seconds until the same call is accepted. */
  readonly retryAfterSeconds: number | undefined;

  constructor(problem: Problem, cause?: unknown) {
    super(problem.detail, cause === undefined ? undefined : { cause });
    this.name = 'SandhavenError';
    this.code = problem.code;
    this.status = problem.status;
    this.detail = problem.detail;
    this.hint = problem.hint;
    this.parameter = problem.parameter;
    this.resource = problem.resource;
    this.retryable = problem.retryable;
    this.requestId = problem.request_id;
    this.authorizationUrl = problem.authorization_url;
    this.retryAfterSeconds = problem.retry_after_seconds;
  }
}

/** Returns true for a SandhavenError, of this code if given. */
export function isSandhavenError(error: unknown, code?: ErrorCode): error is SandhavenError {
  return error instanceof SandhavenError && (code === undefined || error.code === code);
}

/** The service was unreachable, or closed the connection before its response. */
export function unreachable(url: string, cause: unknown): SandhavenError {
  return new SandhavenError(
    {
      code: 'unavailable',
      status: 0,
      detail: `The service at ${url || 'this address'} gave no answer.`,
      hint: 'Check that it runs (`sandhaven up`) and that the url is right.',
      retryable: true,
    },
    cause,
  );
}

/** @returns null when the body is not a problem object, as from a proxy in between. */
export function fromProblem(body: unknown): SandhavenError | null {
  if (typeof body !== 'object' || body === null) return null;
  const { code, detail, status } = body as Partial<Problem>;
  if (typeof code !== 'string' || typeof detail !== 'string' || typeof status !== 'number') return null;
  return new SandhavenError(body as Problem);
}

/** Builds the error for a response that is not the service's own. @param retryAfter Value of its header. */
export function foreignAnswer(status: number, retryAfter: string | null = null): SandhavenError {
  const gateway = status === 502 || status === 503 || status === 504;
  return new SandhavenError({
    code: gateway ? 'unavailable' : 'internal',
    status,
    detail: `Something other than the service answered, with status ${status}.`,
    hint: 'Check the url, and any proxy on the way to the service.',
    retryable: gateway,
    ...(/^\d{1,6}$/.test(retryAfter ?? '') ? { retry_after_seconds: Number(retryAfter) } : {}),
  });
}
