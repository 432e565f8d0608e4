/**
 * Joins two connections, bytes both ways. The end of one direction is passed on and leaves the other direction
 * open; backpressure holds in both.
 */
import type { Duplex } from 'node:stream';
import { limits } from '../model/limits.ts';
import { breakOff } from './break-off.ts';

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
