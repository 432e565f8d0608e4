/** The thread of a relay: passes the bytes of each connection to the same port of 127.0.0.1. */
import { connect, createServer } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { join } from '../../support/front/join.ts';
import type { RelayAddress } from './relay.ts';

const { host, port } = workerData as RelayAddress;

const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
  const onward = connect({ host: '127.0.0.1', port, allowHalfOpen: true, noDelay: true });
  onward.once('error', () => client.resetAndDestroy());
  join(client, onward);
});
server.listen(port, host, () => parentPort?.postMessage('listening'));
