/**
 * Fetches the documents by which clients describe themselves at their own https address. The address comes from a stranger
 * and the connection from the service, so the host is resolved once, and only public addresses are connected to.
 */
import { lookup } from 'node:dns/promises';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { Readable } from 'node:stream';
import { abortRace } from '../../../concurrency/abort-race.ts';
import { Shares } from '../../../fairness/shares.ts';
import { limits } from '../../../model/limits.ts';
import { type Address, pinnedLookup } from '../../../model/network/pinned-lookup.ts';
import { isPublicIPv4, isPublicIPv6 } from '../../../model/network/public-addresses.ts';

export interface DocumentFetchDependencies {
  resolve?(host: string): Promise<Address[]>;
  isAllowed?(address: Address): boolean;
  /** Certificates to trust in place of the usual ones. */
  ca?: string | Buffer;
}

/** @param network Of whoever asks: each has a share of the fetches at once. */
export type DocumentFetch = (
  target: string | URL | Request,
  init: RequestInit | undefined,
  network: string,
) => Promise<Response>;

const HEADERS = ['content-type', 'content-length', 'cache-control', 'expires'];

/** Follows no redirect, sends no cookie, and rejects above the bounds of time and number. */
export function createDocumentFetch({
  resolve = (host) => lookup(host, { all: true }),
  isAllowed = isPublic,
  ca,
}: DocumentFetchDependencies = {}): DocumentFetch {
  const places = new Shares({
    ...limits.oauth.documentsAtOnce,
    what: 'descriptions of applications are being fetched',
  });
  return async (target, init, network) => {
    const url = new URL(target instanceof Request ? target.url : target);
    if (url.protocol !== 'https:' || url.username !== '' || url.password !== '') throw refused();
    const leave = places.take(network);
    try {
      const signals = [AbortSignal.timeout(limits.oauth.documentMs), init?.signal].filter(
        (one) => one != null,
      );
      const signal = AbortSignal.any(signals);
      // A resolver may take longer than the whole fetch has.
      const addresses = await abortRace(addressesOf(url.hostname.replace(/^\[|\]$/g, ''), resolve), signal);
      // All of them: a name with one private address beside public ones is no honest one.
      if (addresses.length === 0 || !addresses.every(isAllowed)) throw refused();
      return await get(url, addresses, { signal, ...(ca === undefined ? {} : { ca }) });
    } finally {
      leave();
    }
  };
}

/** Resolves with the whole body read. */
function get(
  url: URL,
  addresses: Address[],
  options: { signal: AbortSignal; ca?: string | Buffer },
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const sent = httpsRequest(url, {
      ...options,
      ...{ agent: false, lookup: pinnedLookup(addresses), maxHeaderSize: limits.oauth.documentBytes },
      headers: { accept: 'application/json' },
    });
    sent.once('error', reject);
    sent.once('response', (answer) => {
      const status = answer.statusCode ?? 0;
      if (status !== 200) {
        answer.destroy();
        reject(new Error(`the document was answered with status ${status}`));
        return;
      }
      const headers = HEADERS.flatMap((name) => {
        const value = answer.headers[name];
        return value === undefined ? [] : [[name, String(value)] as [string, string]];
      });
      bounded(answer).then((body) => resolve(new Response(body, { status, headers })), reject);
    });
    sent.end();
  });
}

async function bounded(answer: Readable): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of answer) {
    bytes += (piece as Buffer).length;
    if (bytes > limits.oauth.documentBytes) throw new Error('the document is too large');
    pieces.push(piece as Buffer);
  }
  return new Uint8Array(Buffer.concat(pieces));
}

async function addressesOf(host: string, resolve: (host: string) => Promise<Address[]>): Promise<Address[]> {
  const family = isIP(host);
  return family === 0 ? resolve(host) : [{ address: host, family }];
}

function isPublic({ address, family }: Address): boolean {
  return family === 4 ? isPublicIPv4(address) : isPublicIPv6(address);
}

function refused(): Error {
  return new Error('documents of clients are fetched from public https addresses only');
}
