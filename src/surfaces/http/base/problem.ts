/** Turns errors of every part of the HTTP server into RFC 9457 problem details. */
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../../../control/ports/index.ts';
import { isDefect, type Problem, SandhavenError, toProblem } from '../../../model/errors.ts';
import { newRequestId } from '../../../model/ids.ts';

const TYPE = 'application/problem+json; charset=utf-8';
const RETRY_AFTER_SECONDS = 1;

/** Builds the problem for the caller; the cause of an internal error goes to the log, and only there. */
export function explain(error: unknown, request: FastifyRequest, log: Log): Problem {
  const known = translate(error);
  const problem = toProblem(known, request.id);
  request.outcome = problem.code;
  if (isDefect(known, request.abandoned)) log.error('request failed', { request_id: request.id, error });
  return problem;
}

export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  reply.header('x-request-id', problem.request_id);
  if (problem.status === 401 && !reply.hasHeader('www-authenticate'))
    reply.header('www-authenticate', 'Bearer realm="sandhaven"');
  if (problem.retryable) reply.header('retry-after', problem.retry_after_seconds ?? RETRY_AFTER_SECONDS);
  return reply.code(problem.status).type(TYPE).serializer(JSON.stringify).send(problem);
}

/** Answers bytes that never became a request; there is no reply object yet. */
export function refuseConnection(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const refusal = tooLarge
    ? new SandhavenError('too_large', 'The request headers are too large.')
    : new SandhavenError('invalid_argument', 'This is not a complete, valid HTTP request.');
  const problem = toProblem(refusal, newRequestId());
  const body = JSON.stringify(problem);
  socket.end(
    `HTTP/1.1 ${problem.status} ${problem.title}\r\ncontent-type: ${TYPE}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nx-request-id: ${problem.request_id}\r\nconnection: close\r\n\r\n${body}`,
  );
}

/** Rewords fastify's own refusals. */
function translate(error: unknown): unknown {
  if (error instanceof SandhavenError || !(error instanceof Error)) return error;
  const { code, statusCode } = error as Error & { code?: string; statusCode?: number };
  switch (code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new SandhavenError('invalid_argument', 'The Content-Type is not one that this route takes.', {
        parameter: 'Content-Type',
        hint: 'Send a JSON object with Content-Type: application/json.',
      });
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new SandhavenError('too_large', 'The body is larger than any that this route takes.');
    default:
      return statusCode !== undefined && statusCode >= 400 && statusCode < 500
        ? new SandhavenError('invalid_argument', 'The request is not valid HTTP for this route.')
        : error;
  }
}
