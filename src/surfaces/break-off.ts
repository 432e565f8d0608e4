/** Ends a connection so that the far end sees that this is no end like another: by a reset. */
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

export function breakOff(stream: Duplex): void {
  if (stream.destroyed) return;
  if (stream instanceof TLSSocket) {
    // Only TCP has resets, and TLS that merely stops is an end like another to most.
    transportOf(stream)?.resetAndDestroy();
    stream.destroy();
  } else if (stream instanceof Socket) stream.resetAndDestroy();
  else stream.destroy();
}

/** Node has no name of its own for the socket that it was given to speak TLS on. */
function transportOf(secure: TLSSocket): Socket | null {
  const parent: unknown = Reflect.get(secure, '_parent');
  return parent instanceof Socket && !(parent instanceof TLSSocket) ? parent : null;
}
