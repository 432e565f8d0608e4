/** Ends a connection by a TCP reset, so that the far end can distinguish it from a normal close. */
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

export function breakOff(stream: Duplex): void {
  if (stream.destroyed) return;
  if (stream instanceof Socket && !isEnding(stream)) transportOf(stream)?.resetAndDestroy();
  stream.destroy();
}

/** The kernel refuses to reset a socket that is shutting down, and Node would never close it then. */
function isEnding({ writableEnded, writableFinished }: Socket): boolean {
  return writableEnded && !writableFinished;
}

/**
 * Returns the TCP socket beneath a connection; only TCP has resets. Node has no public name for the socket beneath TLS.
 */
export function transportOf(socket: Socket): Socket | null {
  if (!(socket instanceof TLSSocket)) return socket;
  const parent: unknown = Reflect.get(socket, '_parent');
  return parent instanceof Socket && !(parent instanceof TLSSocket) ? parent : null;
}
