/** Errors as E2B's clients read them: a number and a sentence, or in calls of a procedure a word of Connect's. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../../../control/ports/index.ts';
import { type ErrorCode, errorTable, type Problem, SandhavenError } from '../../../model/errors.ts';
import { explain } from '../../http/base/problem.ts';

/** Document with a line for each call that is not there. */
const CALLS = 'docs/migrate-from-e2b.md';

/** A call, or a part of one, that this service does not have. */
export class NotHere extends Error {
  constructor(reason: string) {
    super(`${reason} See ${CALLS}.`);
  }
}

/** A sandbox that does not run, or is not there: clients tell these by the status alone. */
export class NotRunning extends Error {
  readonly sandboxId: string;

  constructor(sandboxId: string) {
    super('The sandbox was not found');
    this.sandboxId = sandboxId;
  }
}

/** Statuses of ours that their clients know no class for. */
const statuses: Partial<Record<number, number>> = { 412: 409, 413: 400, 421: 400, 422: 400 };

export interface PlainError {
  code: number;
  message: string;
}

/** Returns an error that is a part of an answer. */
export function errorOf(code: ErrorCode, message: string): PlainError {
  const { status } = errorTable[code];
  return { code: statuses[status] ?? status, message };
}

/** Sends the error of a plain request. */
export function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  log: Log,
): FastifyReply {
  if (error instanceof NotHere) return reply.code(501).send({ code: 501, message: error.message });
  if (error instanceof NotRunning) {
    const { message, sandboxId } = error;
    return reply.code(502).send({ code: 502, message, sandboxId });
  }
  const problem = explain(error, request, log);
  const status = statuses[problem.status] ?? problem.status;
  if (problem.retryable) reply.header('retry-after', problem.retry_after_seconds ?? 1);
  return reply.code(status).send({ code: status, message: sentencesOf(problem) });
}

export interface ConnectError {
  code: string;
  message: string;
}

const words: Partial<Record<ErrorCode, [word: string, status: number]>> = {
  invalid_argument: ['invalid_argument', 400],
  ambiguous_sandbox: ['invalid_argument', 400],
  too_large: ['invalid_argument', 400],
  not_found: ['not_found', 404],
  already_exists: ['already_exists', 409],
  permission_denied: ['permission_denied', 403],
  unauthenticated: ['unauthenticated', 401],
  resource_exhausted: ['resource_exhausted', 429],
  failed_precondition: ['failed_precondition', 400],
  invalid_state: ['unavailable', 503],
  unavailable: ['unavailable', 503],
  timeout: ['deadline_exceeded', 504],
};

/** Returns the error of a procedure in Connect's words, with the status of a plain answer. */
export function connectErrorOf(
  error: unknown,
  request: FastifyRequest,
  log: Log,
): { status: number; error: ConnectError } {
  if (error instanceof NotHere)
    return { status: 501, error: { code: 'unimplemented', message: error.message } };
  if (error instanceof NotRunning)
    return { status: 502, error: { code: 'unavailable', message: error.message } };
  const problem = explain(error, request, log);
  const [code, status] = words[problem.code] ?? ['internal', 500];
  return { status, error: { code, message: sentencesOf(problem) } };
}

/** Returns true for an error that says that there is no such file, folder, process or watch. */
export function isMissing(error: unknown): boolean {
  return error instanceof SandhavenError && error.code === 'not_found';
}

function sentencesOf({ detail, hint }: Problem): string {
  return hint === undefined ? detail : `${detail} ${hint}`;
}
