/** Requests of the service's own over HTTP: no redirect is followed, and an answer is read up to a bound. */
import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { type Address, pinnedLookup } from './addresses.ts';
import { operatorNames } from './operator-names.ts';

/** The way of a request to its host. */
export type Way = Pick<RequestOptions, 'agent' | 'lookup'>;

/** To a host that the operator gave: connections are kept, and a proxy of the environment counts where Node uses one. */
export const toOperators: Way = { lookup: operatorNames.lookup };

/** To checked addresses: no proxy of the environment is used, and no connection outlives the check. */
export function toAddresses(addresses: readonly Address[]): Way {
  return { agent: false, lookup: pinnedLookup(addresses) };
}

export interface Request {
  way: Way;
  /** GET by default. */
  method?: string;
  headers?: OutgoingHttpHeaders;
  body?: string | Uint8Array | null;
  signal: AbortSignal;
  /** Node's bound by default. */
  headerBytes?: number;
  /** Certificates to trust in place of the usual ones. */
  ca?: string | Buffer | undefined;
}

/** Resolves with an answer whose body is yet to be read. */
export function begin(
  url: URL,
  { way, headers, body, headerBytes, ca, ...rest }: Request,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options: RequestOptions = {
      ...{ ...rest, ...way },
      // Node sends the body of a DELETE without a length of its own accord, and servers take it for another request.
      headers: { ...headers, ...(body ? { 'content-length': Buffer.byteLength(body) } : {}) },
      ...(headerBytes === undefined ? {} : { maxHeaderSize: headerBytes }),
      ...(ca === undefined ? {} : { ca }),
    };
    const sent = url.protocol === 'https:' ? httpsRequest(url, options) : httpRequest(url, options);
    // Also after the answer, when the time is over: an error without a listener would end the process.
    sent.on('error', reject);
    sent.once('response', resolve);
    sent.end(body ?? undefined);
  });
}

export interface Bound {
  bytes: number;
  /** The error for a longer answer. */
  tooLong: () => Error;
}

/** Resolves with the whole answer. */
export async function exchange(url: URL, request: Request, { bytes, tooLong }: Bound): Promise<Response> {
  const answer = await begin(url, request);
  const pieces: Buffer[] = [];
  let read = 0;
  // An early end of the loop closes the connection.
  for await (const piece of answer as AsyncIterable<Buffer>) {
    read += piece.length;
    if (read > bytes) throw tooLong();
    pieces.push(piece);
  }
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(answer.headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  return new Response(read > 0 ? Buffer.concat(pieces) : null, { status: answer.statusCode ?? 0, headers });
}
