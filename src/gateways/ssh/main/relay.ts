/** Relays bytes between a connection and a thread, both ways, until both have ended or one is gone. */
import type { Duplex } from 'node:stream';
import type { MessagePort } from 'node:worker_threads';
import { PortStream } from '../port-stream.ts';

export function relay(connection: Duplex, port: MessagePort): void {
  const stream = new PortStream(port);
  connection.pipe(stream);
  stream.pipe(connection);
  // Closing the connection cancels the work at its other end, after any error.
  connection.on('error', () => stream.destroy());
  stream.on('error', () => connection.destroy());
  stream.on('close', () => connection.destroy());
  connection.on('close', () => {
    if (!connection.readableEnded) stream.destroy();
  });
}
