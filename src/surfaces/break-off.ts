/** Ends a connection so that the far end sees that this is no end like another: by a reset. */
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

export function breakOff(stream: Duplex): void {
  if (stream.destroyed) return;
  if (stream instanceof Socket && !isEnding(stream)) transportOf(stream)?.resetAndDestroy();
  stream.destroy();
}

/** The system refuses to reset what it is shutting down, and Node would never close it then. */
function isEnding({ writableEnded, writableFinished }: Socket): boolean {
  return writableEnded && !writableFinished;
}

/** What the bytes of a connection go over. Only TCP has resets. Node has no name of its own for the socket that it was given to speak TLS on. */
export function transportOf(socket: Socket): Socket | null {
  if (!(socket instanceof TLSSocket)) return socket;
  const parent: unknown = Reflect.get(socket, '_parent');
  return parent instanceof Socket && !(parent instanceof TLSSocket) ? parent : null;
}
