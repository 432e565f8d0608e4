/** Errors as Daytona's clients read them: a class by `source` and `code` first, else by the status. */
import { STATUS_CODES } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../../../control/ports/index.ts';
import { type Problem, SandhavenError } from '../../../model/errors.ts';
import { explain } from '../../http/base/problem.ts';
import type { DaytonaRoute } from './call.ts';

/** Document with a line for each call that is not there. */
const CALLS = 'docs/migrate-from-daytona.md';

/** A call that this service does not have. */
export class NotHere extends Error {
  /** @param reason A sentence for the caller. */
  constructor(reason: string) {
    super(`${reason} See ${CALLS}.`);
  }
}

/**
 * Throws `NotHere` for the first field of a request that is asked for, with its sentence. A field without a sentence may be
 * sent as long as it asks for nothing.
 */
export function assertNone(body: Record<string, unknown>, refusals: Record<string, string>): void {
  const [field] = Object.keys(refusals).filter((name) => isAsked(body[name]));
  if (field !== undefined) throw new NotHere(`${field}: ${refusals[field]}`);
}

/** Returns false for a null, a zero, an empty text or an empty list: clients send them for want of a value. */
export function isAsked(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === 0 || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

/** A name is refused before a build: at its end it would be too late. */
export function alreadyThere(what: string, name: string): SandhavenError {
  return new SandhavenError('already_exists', `There is a ${what} named '${name}'.`, {
    parameter: 'name',
    hint: 'Choose another name, or delete it first.',
  });
}

/** Resolves with null in place of a `not_found`. */
export async function unlessMissing<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof SandhavenError && error.code === 'not_found') return null;
    throw error;
  }
}

/** Status and code of an error, by which their clients choose its class. */
export interface Coded {
  status: number;
  code: string;
}

/** An error with the status and the code that its route gives it. */
class CodedError extends SandhavenError {
  readonly coded: Coded;

  constructor(cause: SandhavenError, coded: Coded) {
    super(cause.code, cause.message, cause.fields, cause);
    this.coded = coded;
  }
}

/** Makes a route answer errors that `codeOf` knows with their codes. */
export function coding<Route extends DaytonaRoute>(
  route: Route,
  codeOf: (error: SandhavenError) => Coded | null,
): Route {
  return {
    ...route,
    async handler(call) {
      try {
        return await route.handler(call);
      } catch (error) {
        const coded = error instanceof SandhavenError ? codeOf(error) : null;
        throw coded ? new CodedError(error as SandhavenError, coded) : error;
      }
    },
  };
}

/** Statuses of ours that their clients know no class for, and that of a program over its time. */
const statuses: Partial<Record<number, number>> = { 412: 422, 413: 422, 421: 400, 504: 408 };

/** Sends an error of any kind, and nothing of a defect but that it was one. */
export function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { source, log }: { source: 'DAYTONA_API' | 'DAYTONA_DAEMON'; log: Log },
): FastifyReply {
  if (error instanceof NotHere) return send(501, 'NOT_IMPLEMENTED', error.message);
  const coded = error instanceof CodedError ? error.coded : null;
  const problem = explain(error, request, log);
  const status = coded?.status ?? statuses[problem.status] ?? problem.status;
  if (problem.retryable) reply.header('retry-after', problem.retry_after_seconds ?? 1);
  return send(status, coded?.code ?? codeOf(problem), sentencesOf(problem));

  function send(statusCode: number, code: string, message: string): FastifyReply {
    const [path] = request.url.split('?');
    const timestamp = new Date().toISOString();
    return reply.code(statusCode).send({
      ...{ statusCode, code, message, source, timestamp, path, method: request.method },
      error: STATUS_CODES[statusCode],
    });
  }
}

/** Detail and hint. */
export function sentencesOf({ detail, hint }: Problem): string {
  return hint === undefined ? detail : `${detail} ${hint}`;
}

/** Their codes for ours, where a class of theirs goes with one. */
function codeOf({ code, resource, parameter }: Problem): string {
  if (code === 'not_found' && (resource === 'file' || resource === 'folder')) return 'FILE_NOT_FOUND';
  if (code === 'timeout') return 'PROCESS_EXECUTION_TIMEOUT';
  if (code === 'invalid_state' && parameter === 'session_id') return 'SESSION_ENDED';
  return code.toUpperCase();
}
