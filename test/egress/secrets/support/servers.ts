/**
 * Servers of TLS that secrets are for, on every address of the internet. They answer with what they got, and note it. Run by
 * drive.ts in the outside's network namespace.
 */
import { createHash } from 'node:crypto';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { obey } from '../../support/driver.ts';

interface Seen {
  method: string;
  url: string;
  headers: Record<string, unknown>;
}

const seen: Seen[] = [];
/** TLS sessions that clients went on with, instead of new ones. */
let resumed = 0;
const [piece, megabyte] = [Buffer.alloc(1 << 16, 'x'), 1 << 20];

function answer(request: Http2ServerRequest, response: Http2ServerResponse): void {
  const { method, headers } = request;
  const url = new URL(request.url, 'https://any.test');
  seen.push({ method, url: request.url, headers: { ...headers } });
  request.on('error', () => {});
  const credentials = String(headers.authorization ?? headers['x-api-key'] ?? '');
  const kind = (type: string) => response.setHeader('content-type', type);
  switch (url.pathname) {
    case '/redirect':
      response.writeHead(302, { location: `https://other.test/?key=${credentials}` });
      response.end();
      return;
    case '/in-fields':
      response.writeHead(200, { 'x-echo': credentials, 'content-type': 'text/plain' });
      response.end('ok');
      return;
    case '/binary':
      kind('application/octet-stream');
      response.end(credentials);
      return;
    case '/events':
      kind('text/event-stream');
      void stream(response, ['data: first\n\n', 'data: ', ...credentials, '\n\n', 'data: last\n\n']);
      return;
    case '/chunks':
      kind('application/json');
      void stream(response, [...`["${credentials}","${credentials}"]`]);
      return;
    case '/length': {
      const body = Buffer.from(`-- ${credentials} --`);
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': body.length });
      response.end(body);
      return;
    }
    case '/big':
      kind('application/octet-stream');
      flood(response, Number(url.searchParams.get('megabytes')) * megabyte);
      return;
    case '/endless-text':
      kind('text/plain');
      flood(response, Number.MAX_SAFE_INTEGER);
      return;
    case '/slow':
      setTimeout(() => response.end('slow'), Number(url.searchParams.get('ms')));
      return;
    case '/early':
      response.statusCode = 413;
      response.end('too large');
      return;
    // Like gRPC: a status in trailers.
    case '/grpc':
      kind('application/grpc');
      response.addTrailers({ 'grpc-status': '0', 'grpc-message': credentials });
      request.pipe(response);
      return;
    case '/upload':
      hash(request, response);
      return;
    default:
      echo(request, response, { method, url: request.url, headers });
      return;
  }
}

function echo(request: Http2ServerRequest, response: Http2ServerResponse, told: object): void {
  const pieces: Buffer[] = [];
  request.on('data', (data: Buffer) => pieces.push(data));
  request.on('end', () => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ...told, body: Buffer.concat(pieces).toString() }));
  });
}

function hash(request: Http2ServerRequest, response: Http2ServerResponse): void {
  const sum = createHash('sha256');
  let bytes = 0;
  request.on('data', (data: Buffer) => {
    sum.update(data);
    bytes += data.length;
  });
  request.on('end', () => response.end(JSON.stringify({ bytes, sha256: sum.digest('hex') })));
}

/** Each text in a piece of its own. */
async function stream(response: Http2ServerResponse, texts: string[]): Promise<void> {
  for (const text of texts) {
    response.write(text);
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
  response.end();
}

function flood(response: Http2ServerResponse, bytes: number): void {
  let left = bytes;
  const send = () => {
    while (left > 0) {
      left -= piece.length;
      if (!response.write(piece)) return;
    }
    response.end();
  };
  response.on('drain', send);
  send();
}

function web({ port, key, cert }: { port: number; key: string; cert: string }): Promise<void> {
  const server = createSecureServer({ key, cert, allowHTTP1: true });
  server.on('request', answer);
  server.on('upgrade', (request, socket: TLSSocket) => {
    seen.push({ method: request.method, url: request.url, headers: { ...request.headers } });
    socket.on('error', () => {});
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhi');
    socket.pipe(socket);
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.isSessionReused()) resumed++;
    socket.on('error', () => {});
  });
  server.on('sessionError', () => {});
  server.on('tlsClientError', () => {});
  return new Promise((resolve) => server.listen(port, '0.0.0.0', resolve));
}

/** Answers every request with the same bytes, in pieces if there are some, and ends if told to. */
function canned({ port, key, cert, pieces, ends }: Canned): Promise<void> {
  const server = createTlsServer({ key, cert }, (socket) => {
    socket.on('error', () => {});
    socket.on('data', async (data) => {
      seen.push({ method: 'raw', url: data.toString('latin1'), headers: {} });
      for (const text of pieces) {
        socket.write(text);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      if (ends) socket.end();
    });
  });
  server.on('tlsClientError', () => {});
  return new Promise((resolve) => server.listen(port, '0.0.0.0', resolve));
}

interface Canned {
  port: number;
  key: string;
  cert: string;
  pieces: string[];
  ends: boolean;
}

obey({
  web,
  canned,
  /** A head that never ends. */
  endlessHead: ({ port, key, cert }: { port: number; key: string; cert: string }) =>
    new Promise<void>((resolve) => {
      const server = createTlsServer({ key, cert }, (socket) => {
        const more = `x-more: ${'y'.repeat(1000)}\r\n`;
        const send = () => {
          while (socket.writable && socket.write(more));
        };
        socket.on('error', () => {});
        socket.on('drain', send);
        socket.once('data', () => {
          socket.write('HTTP/1.1 200 OK\r\n');
          send();
        });
      });
      server.listen(port, '0.0.0.0', resolve);
    }),
  seen: () => seen.splice(0),
  resumed: () => resumed,
});
