/** A proxy before PostgreSQL that counts round trips: messages after which a client waits for an answer. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { frameReader, QUERY, SYNC } from './frame-reader.ts';

export interface CountingProxy {
  /** The address through the proxy. */
  through(url: string): string;
  /** Round trips while `work` runs. */
  during(work: () => Promise<unknown>): Promise<number>;
  close(): Promise<void>;
}

/** The check of the connection that holds the database's lock, whenever it comes. */
const heartbeat = Buffer.from('SELECT 1\0');

export async function startCountingProxy(port: number): Promise<CountingProxy> {
  let count = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    const frames = frameReader((type, body) => {
      if (type === SYNC || (type === QUERY && !body.equals(heartbeat))) count += 1;
    });
    client.on('data', frames);
    client.pipe(upstream).pipe(client);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port: own } = server.address() as AddressInfo;
  return {
    through: (url) => url.replace(`:${port}/`, `:${own}/`),
    async during(work) {
      const before = count;
      await work();
      return count - before;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
