/** Sends requests over kept connections, with as little between the clock and the socket as Node allows. */
import { Agent, request } from 'node:http';

export interface Endpoint {
  address: { host: string; port: number } | { socketPath: string };
  headers: Record<string, string>;
  agent: Agent;
}

export interface Reply {
  status: number;
  /** Empty when discarded. */
  body: Buffer;
  bytes: number;
}

interface Outgoing {
  body?: Buffer | undefined;
  contentType?: string;
  /** Counts the reply's bytes and keeps none. */
  discard?: boolean;
}

export function createEndpoint(address: Endpoint['address'], headers: Record<string, string> = {}): Endpoint {
  return { address, headers, agent: new Agent({ keepAlive: true, maxFreeSockets: 256 }) };
}

/** Rejects for a status that is not 2xx, quoting the reply. */
export function send(
  endpoint: Endpoint,
  method: string,
  path: string,
  outgoing: Outgoing = {},
): Promise<Reply> {
  const { body, contentType = 'application/json', discard = false } = outgoing;
  const headers = {
    ...endpoint.headers,
    ...(body ? { 'content-type': contentType, 'content-length': String(body.length) } : {}),
  };
  return new Promise((resolve, reject) => {
    const sent = request(
      { ...endpoint.address, method, path, headers, agent: endpoint.agent },
      (response) => {
        const status = response.statusCode ?? 0;
        const isError = status < 200 || status > 299;
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (!discard || isError) chunks.push(chunk);
        });
        response.on('error', reject);
        response.on('end', () => {
          const reply = { status, body: Buffer.concat(chunks), bytes };
          if (isError)
            reject(new Error(`${method} ${path}: ${status} ${reply.body.toString().slice(0, 500)}`));
          else resolve(reply);
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
