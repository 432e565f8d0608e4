/**
 * Sends one file of a sandbox to the browser that shows it. Everything in it is hostile: the answer runs no script, fetches
 * nothing, belongs to no origin, and is what its media type says or nothing.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { FileAdmission, FilePreviews } from '../../control/access/file-previews.ts';
import { limits } from '../../model/limits.ts';
import { Refusal } from './refusal.ts';

/** `sandbox` alone: Chromium's viewer of PDFs works with this header, and not in a frame with that attribute. */
const POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:";

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'content-disposition': 'inline',
};

interface FileVisit {
  request: IncomingMessage;
  response: ServerResponse;
  /** Address of the visitor. */
  client: string | null;
}

/** Resolves when the exchange is over. Rejects with the error for the visitor when nothing was sent. */
export async function sendFile(
  { request, response, client }: FileVisit,
  token: string,
  previews: Pick<FilePreviews, 'admit' | 'visit'>,
): Promise<void> {
  if (request.method !== 'GET') throw new Refusal(405, 'A preview of a file answers to GET alone.');
  const admission = await previews.admit(token, request.url?.slice(1) ?? '');
  if (!admission) throw new Refusal(401, 'This preview has expired or never existed.\nOpen the file again.');
  const left = new AbortController();
  response.once('close', () => left.abort(new Error('The visitor left.')));
  const visit = {
    address: client,
    signal: left.signal,
    expire: () => void request.socket.destroy(),
  };
  await previews.visit(admission, visit, async (bytes) => {
    request.socket.setTimeout(limits.byteStreamIdleMs, () => request.socket.destroy());
    response.writeHead(200, headersOf(admission));
    // A visitor that leaves is no fault, and whoever reads an answer that breaks off sees that it is not whole.
    await pipeline(bytes, response).catch(() => response.destroy());
    request.socket.setTimeout(0);
  });
}

function headersOf({ mediaType }: FileAdmission): Record<string, string> {
  return { 'content-type': mediaType, ...HEADERS };
}
