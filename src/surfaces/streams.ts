/** Connections as streams: joins two of them, and ends one by a reset. */
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { limits } from '../model/limits.ts';

/** Resolves when both are closed. A connection that breaks takes the other with it. */
export async function joinStreams(one: Duplex, other: Duplex): Promise<void> {
  const closed = [follow(one, other), follow(other, one)];
  one.pipe(other);
  other.pipe(one);
  await Promise.all(closed);
}

/** Resolves when `leader` is closed, and ensures that `follower` will be. */
function follow(leader: Duplex, follower: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const left = () => {
      if (endedBothWays(leader)) leaveTimeForTheLastBytes(follower);
      else breakOff(follower);
      resolve();
    };
    leader.on('error', () => {});
    if (leader.destroyed) left();
    else leader.once('close', left);
  });
}

function endedBothWays({ readableEnded, writableFinished, errored }: Duplex): boolean {
  return readableEnded && writableFinished && !errored;
}

/** Bytes read from one side before it closed may still be on their way to the other. */
function leaveTimeForTheLastBytes(stream: Duplex): void {
  if (stream.destroyed) return;
  const timer = setTimeout(() => stream.destroy(), limits.tunnel.lastBytesMs);
  stream.once('close', () => clearTimeout(timer));
}

/** Ends a connection by a TCP reset, so that the far end can distinguish it from a normal close. */
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
