/**
 * Sends a request to one address with another one in its Host, a header that `fetch` does not let callers
 * set. Only Node needs this: browsers resolve such names themselves.
 */

/** The part of Node's `http` that is used, since the package has no types of Node. */
interface Http {
  request(options: object, answered: (answer: Incoming) => void): Outgoing;
}

interface Incoming extends AsyncIterable<Uint8Array> {
  statusCode: number;
  statusMessage: string;
  rawHeaders: string[];
  on(event: 'error', listener: (error: Error) => void): unknown;
}

interface Outgoing {
  once(event: 'error', listener: (error: Error) => void): unknown;
  end(body: Uint8Array): unknown;
}

const WITHOUT_BODY = new Set([204, 205, 304]);

/** @returns null where there is no Node. */
export function fetchAt(address: string, request: Request): Promise<Response> | null {
  const http = nodeHttp();
  return http && exchange(http, address, request);
}

async function exchange(http: Http, address: string, request: Request): Promise<Response> {
  const { method, signal, body } = request;
  const { host, port, pathname, search } = new URL(request.url);
  const bytes = new Uint8Array(await request.arrayBuffer());
  const headers = {
    // The answer is not decompressed, so no compressed one is requested.
    'accept-encoding': 'identity',
    ...Object.fromEntries(request.headers),
    ...(body === null ? {} : { 'content-length': bytes.length }),
    host,
  };
  return new Promise((resolve, reject) => {
    const options = { method, headers, signal, host: address, port: port || 80, path: pathname + search };
    const sent = http.request(options, (answer) => resolve(responseOf(answer)));
    sent.once('error', (error) => reject(signal.aborted ? signal.reason : error));
    sent.end(bytes);
  });
}

function responseOf(answer: Incoming): Response {
  const headers = new Headers();
  for (let i = 0; i + 1 < answer.rawHeaders.length; i += 2)
    headers.append(answer.rawHeaders[i] ?? '', answer.rawHeaders[i + 1] ?? '');
  // A broken answer fails its reader, which is enough.
  answer.on('error', () => {});
  const { statusCode: status, statusMessage: statusText } = answer;
  return new Response(WITHOUT_BODY.has(status) ? null : streamOf(answer), { status, statusText, headers });
}

function streamOf(answer: Incoming): ReadableStream<Uint8Array<ArrayBuffer>> {
  const chunks = answer[Symbol.asyncIterator]();
  const source = {
    async pull(controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(new Uint8Array(value));
    },
    async cancel() {
      await chunks.return?.();
    },
  };
  // A short body is read at once: one that nobody reads keeps no program from ending.
  return new ReadableStream(source, { highWaterMark: 2 });
}

function nodeHttp(): Http | null {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): unknown } };
  return (process?.getBuiltinModule?.('node:http') ?? null) as Http | null;
}
