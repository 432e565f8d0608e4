/** Passes the bytes of each connection to a replica. */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from './join.ts';
import type { Replica } from './replicas.ts';

/** @param request What the front's log says of it. */
export type Choose = (request: string) => Replica | null;

export interface Serving {
  server: Server;
  closeConnections(): void;
}

export function serveConnections(choose: Choose): Serving {
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    open.add(client);
    client.on('close', () => open.delete(client));
    const replica = choose('');
    if (!replica) {
      refuse(client);
      return;
    }
    const { host, port } = replica;
    const onward = connect({ host, port, allowHalfOpen: true, noDelay: true });
    onward.once('error', () => refuse(client));
    join(client, onward);
  });
  return {
    server,
    closeConnections() {
      for (const client of open) client.destroy();
    },
  };
}

/** As a port on which nobody listens, as far as one that has accepted can. */
function refuse(client: Socket): void {
  client.on('error', () => undefined);
  client.resetAndDestroy();
}
