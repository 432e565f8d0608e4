/**
 * A client that was answered before it had sent everything gets the chance to see the answer: a connection that is
 * closed with bytes unread takes the answer with it. What it still sends is read for a short while, and no more of
 * it than a bound: who sends what is refused again and again must not have all of it read.
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
  // There is no point in beginning with what is not read to its end.
  if (Number(request.headers['content-length']) > left) readNoMore(socket);
  socket.on('data', read);
  request.resume();
}
