/**
 * Gives a client that was answered before it had sent everything time to read the answer: closing a connection
 * with unread bytes discards the answer. The rest of its request is read for a short while, up to a bound: a
 * sender of repeatedly refused requests must not have all of it read.
 */
import type { IncomingMessage } from 'node:http';
import { keepOpen, readNoMore } from '../../fairness/paced-connection.ts';
import { limits } from '../../model/limits.ts';

export function linger(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  const { socket } = request;
  let left = limits.lingerBytes;
  const read = (slice: Buffer) => {
    left -= slice.length;
    if (left < 0) readNoMore(socket);
  };
  const release = keepOpen(socket);
  const timer = setTimeout(() => socket.destroy(), limits.lingerMs);
  const over = () => {
    clearTimeout(timer);
    request.off('close', over);
    socket.off('close', over).off('data', read);
    release();
    if (socket.writableEnded) socket.destroy();
  };
  request.once('close', over);
  socket.once('close', over);
  // A body too large to be read to its end is not read at all.
  if (Number(request.headers['content-length']) > left) readNoMore(socket);
  socket.on('data', read);
  request.resume();
}
