/** A proxy between a client and a real S3 server that makes the faults of a network. It keeps the Host header. */
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Fault =
  /** Answers instead of the server. */
  | { kind: 'status'; status: number }
  /** Cuts the connection after this many bytes of the answer's body. */
  | { kind: 'cut'; afterBytes: number }
  /** Changes a byte of the request's body. */
  | { kind: 'damage' }
  /** Passes the request on, and cuts the connection instead of answering. */
  | { kind: 'lose' }
  /** Never answers, and passes nothing on. */
  | { kind: 'hang' };

export interface FaultProxy {
  endpoint: string;
  /** Returns the fault of this request; null passes it on. */
  fault: (request: IncomingMessage) => Fault | null;
  requests: string[];
  close(): Promise<void>;
}

export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const server = createServer((request, response) => {
    proxy.requests.push(`${request.method} ${request.url}`);
    pass(new URL(target), request, response, proxy.fault(request));
  });
  const proxy: FaultProxy = {
    endpoint: '',
    fault: () => null,
    requests: [],
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  proxy.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}

function pass(target: URL, request: IncomingMessage, response: ServerResponse, fault: Fault | null): void {
  if (fault?.kind === 'hang') {
    request.resume();
    return;
  }
  if (fault?.kind === 'status') {
    request.resume();
    response.writeHead(fault.status).end();
    return;
  }
  const { method, url, headers } = request;
  const onward = httpRequest({ host: target.hostname, port: target.port, method, path: url, headers });
  onward.on('error', () => response.destroy());
  onward.on('response', (answer) => {
    if (fault?.kind === 'lose') {
      answer.resume();
      answer.on('end', () => response.destroy());
      return;
    }
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    let sent = 0;
    answer.on('data', (piece: Buffer) => {
      const most = fault?.kind === 'cut' ? Math.max(0, fault.afterBytes - sent) : Infinity;
      response.write(piece.subarray(0, most));
      sent += piece.length;
      if (piece.length >= most) setImmediate(() => response.destroy());
    });
    answer.on('end', () => response.end());
  });
  let first = true;
  request.on('data', (piece: Buffer) => {
    if (fault?.kind === 'damage' && first) piece.writeUInt8(piece.readUInt8(0) ^ 1, 0);
    first = false;
    onward.write(piece);
  });
  request.on('end', () => onward.end());
}
