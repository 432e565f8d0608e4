/**
 * Fetches the documents by which clients describe themselves at their own https address. The address comes from a stranger
 * and the connection from the service, so the exit decides what is connected to: public addresses alone.
 */
import { Shares } from '../../../fairness/shares.ts';
import { limits } from '../../../model/limits.ts';
import { type AllowedHost, targetOf } from '../../../model/network/allowed-hosts.ts';
import { NotReached } from '../../../outbound/addresses.ts';
import type { Exit } from '../../../outbound/exit.ts';
import { exchange, toAddresses } from '../../../outbound/request.ts';

export interface DocumentFetchDependencies {
  exit: Exit;
  /** Besides public addresses; none by default. */
  allowed?: readonly AllowedHost[];
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

const bound = { bytes: limits.oauth.documentBytes, tooLong: () => new Error('the document is too large') };

/** Follows no redirect, sends no cookie, and rejects above the bounds of time and number. */
export function createDocumentFetch({ exit, allowed = [], ca }: DocumentFetchDependencies): DocumentFetch {
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
      const addresses = await exit.addresses(targetOf(url), { allowed, owner: network, signal });
      const way = toAddresses(addresses);
      const request = { way, headers: { accept: 'application/json' }, headerBytes: bound.bytes, signal, ca };
      return withFew(await exchange(url, request, bound));
    } catch (error) {
      throw error instanceof NotReached && error.reason === 'private' ? refused() : error;
    } finally {
      leave();
    }
  };
}

/** Keeps the headers that say what the document is, and how long it lasts. */
function withFew({ status, headers, body }: Response): Response {
  if (status !== 200) throw new Error(`the document was answered with status ${status}`);
  const kept = HEADERS.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value] as [string, string]];
  });
  return new Response(body, { status, headers: kept });
}

function refused(): Error {
  return new Error('documents of clients are fetched from public https addresses only');
}
