/** A proxy before PostgreSQL that breaks off a connection at its next COMMIT, or at its next statement with parameters. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { frameReader, QUERY, SYNC } from './frame-reader.ts';

/** `sent`: the server gets the message, and the client no answer; `unsent`: the server does not get it. */
export type Cut = 'COMMIT sent' | 'COMMIT unsent' | 'statement sent';

export interface CuttingProxy {
  /** The address through the proxy. */
  through(url: string): string;
  /** Breaks off the connection that comes to this point first. */
  cutAt(cut: Cut): void;
  close(): Promise<void>;
}

const commit = Buffer.from('COMMIT\0');

export async function startCuttingProxy(port: number): Promise<CuttingProxy> {
  let next: Cut | null = null;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    let cut: Cut | null = null;
    const frames = frameReader((type, body) => {
      const isCommit = type === QUERY && body.equals(commit);
      const reached = next === 'statement sent' ? type === SYNC : isCommit;
      if (!next || !reached) return;
      cut = next;
      next = null;
    });
    client.on('data', (chunk: Buffer) => {
      frames(chunk);
      if (cut !== 'COMMIT unsent') upstream.write(chunk);
      if (cut) client.destroy();
      if (cut === 'COMMIT unsent') upstream.destroy();
    });
    client.on('close', () => cut || upstream.destroy());
    upstream.pipe(client);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port: own } = server.address() as AddressInfo;
  return {
    through: (url) => url.replace(`:${port}/`, `:${own}/`),
    cutAt(cut) {
      next = cut;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
