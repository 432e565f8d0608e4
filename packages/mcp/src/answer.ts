/** Answers of the bridge itself, where the service gives none. */
import { type Failure, printable } from './failure.ts';
import type { Id, Message } from './messages.ts';

export const SERVER_ERROR = -32_000;
export const PARSE_ERROR = -32_700;
export const INVALID_REQUEST = -32_600;

/**
 * Returns the answer to a request that failed. A failed call is a result with the problem, which the model reads; of other
 * requests it is an error.
 */
export function answerOf(request: Message, failure: Failure): string {
  const problem = failure.problem();
  const { id, method, revision } = request;
  if (method !== 'tools/call')
    return errorLine(id, SERVER_ERROR, `${failure.message} ${failure.hint}`, problem);
  const result = {
    isError: true,
    structuredContent: { error: problem },
    content: [{ type: 'text', text: JSON.stringify(problem) }],
    // Revisions that name themselves in each request tell results apart by this.
    ...(revision === null ? {} : { resultType: 'complete' }),
  };
  return JSON.stringify({ jsonrpc: '2.0', id, result });
}

export function errorLine(id: Id | null, code: number, message: string, data?: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data ? { data } : {}) } });
}

export function logLine(failure: Failure, key: string, chars: number): string {
  return `sandhaven-mcp: ${printable(`${failure.message} ${failure.hint}`, key, chars)}`;
}
