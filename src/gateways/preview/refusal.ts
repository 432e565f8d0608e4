/** What a visitor is told in place of an answer: a status and plain words. */
import type { ServerResponse } from 'node:http';
import { type ErrorCode, SandhavenError } from '../../model/errors.ts';

export class Refusal extends Error {
  readonly status: number;
  /** The answer's last: what the visitor still sends is not read. */
  readonly close: boolean;

  constructor(status: number, text: string, options: { close?: boolean; cause?: unknown } = {}) {
    super(text, { cause: options.cause });
    this.status = status;
    this.close = options.close ?? false;
  }
}

/** Of what went wrong on the way into the sandbox; null for a defect. */
export function refusalOf(error: unknown): Refusal | null {
  if (error instanceof Refusal) return error;
  if (!(error instanceof SandhavenError)) return null;
  // Without the hint: it tells a caller of the service which tool to use, and a visitor has none.
  const text = `${error.message}\n${adviceOf(error.code)}`;
  switch (error.code) {
    case 'not_found':
      return new Refusal(error.fields.resource === 'port' ? 502 : 404, text);
    case 'permission_denied':
      return new Refusal(403, text);
    case 'invalid_state':
    case 'resource_exhausted':
      return new Refusal(503, text);
    default:
      return new Refusal(502, text);
  }
}

function adviceOf(code: ErrorCode): string {
  if (code === 'invalid_state') return 'Once its owner has started it, load this page again.';
  return code === 'resource_exhausted' || code === 'unavailable'
    ? 'Load this page again in a moment.'
    : 'Ask whoever shared this address.';
}

/** Nothing is said when an answer has begun: it is cut off, which every client sees. */
export function refuse(response: ServerResponse, { status, message, close }: Refusal): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const body = Buffer.from(`${message}\n`);
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': body.length,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(close ? { connection: 'close' } : {}),
  });
  response.end(body);
}
