/** Converts between Node's requests and the Fetch API's, which the SDK uses. Bodies are read and bounded before. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { writePieces } from '../json/pieces.ts';
import type { LargeParts } from './large-parts.ts';

export function urlOf({ headers, url }: IncomingMessage): string {
  return `http://${headers.host ?? 'localhost'}${url ?? '/'}`;
}

/** Converts the request without its body. */
export function webRequest(request: IncomingMessage, signal: AbortSignal, body?: string): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    for (const item of [value ?? []].flat()) headers.append(name, item);
  }
  return new Request(urlOf(request), {
    method: request.method ?? 'GET',
    headers,
    signal,
    ...(body === undefined ? {} : { body }),
  });
}

/** Returns a signal that aborts when the client goes away before it has its answer. */
export function signalOf(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort();
  });
  if (response.destroyed) controller.abort();
  return controller.signal;
}

/** Writes as fast as the client reads. */
export async function sendWebResponse(
  response: ServerResponse,
  web: Response,
  large: LargeParts,
  signal: AbortSignal,
): Promise<void> {
  response.writeHead(web.status, Object.fromEntries(web.headers));
  const decoder = new TextDecoder();
  try {
    for await (const chunk of web.body ?? []) {
      await writePieces(response, large.isEmpty ? [chunk] : large.putBack(decoder.decode(chunk)), signal);
    }
    response.end();
  } catch {
    // The status is sent: only a broken connection can show the client an incomplete body.
    response.destroy();
  }
}
