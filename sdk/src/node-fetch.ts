/**
 * Sends a request to an address while its Host names another: `fetch` lets nobody set that header. Node has it, browsers do
 * not, which resolve such names themselves.
 */

/** As much of Node's `http` as is used, since the package has no types of Node. */
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
    // The answer comes as it is, so none is asked for that is packed.
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
  // An answer that breaks off fails its reader; nobody else has to hear of it.
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
