/** Error for a visitor in place of a response: a status and plain text. */
import type { ServerResponse } from 'node:http';
import { concerns, type ErrorCode, SandhavenError } from '../../model/errors.ts';

export class Refusal extends Error {
  readonly status: number;
  /** Ends the connection after this response: the rest of the visitor's request is not read. */
  readonly close: boolean;
  /** true: the text is JSON. */
  readonly json: boolean;

  constructor(
    status: number,
    text: string,
    options: { close?: boolean; json?: boolean; cause?: unknown } = {},
  ) {
    super(text, { cause: options.cause });
    this.status = status;
    this.close = options.close ?? false;
    this.json = options.json ?? false;
  }
}

/** Maps an error on the way into the sandbox to a refusal; null for a defect. */
export function refusalOf(error: unknown): Refusal | null {
  if (error instanceof Refusal) return error;
  if (!(error instanceof SandhavenError)) return null;
  // Omits the hint: it names a tool for callers of the service, and a visitor has none.
  const text = `${error.message}\n${adviceOf(error.code)}`;
  switch (error.code) {
    case 'not_found':
      return new Refusal(concerns(error, 'port') ? 502 : 404, text);
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

/** Cuts off a response that has already begun, which every client detects. */
export function refuse(response: ServerResponse, { status, message, close, json }: Refusal): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const body = Buffer.from(`${message}\n`);
  response.writeHead(status, {
    'content-type': json ? 'application/json' : 'text/plain; charset=utf-8',
    'content-length': body.length,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(close ? { connection: 'close' } : {}),
  });
  response.end(body);
}
