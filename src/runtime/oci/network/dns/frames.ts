/** Framing of DNS over TCP: each message follows its length in two bytes. */
import type { Socket } from 'node:net';

export function frame(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}

/**
 * Calls `onMessage` for each message; one over `maxBytes`, or an empty one, ends the connection. Stops reading while
 * the next message has to wait.
 * @param turnMs Called before each message: 0 takes it; a larger value is a wait in milliseconds before the next call.
 */
export function readFrames(
  socket: Socket,
  maxBytes: number,
  onMessage: (message: Buffer) => void,
  turnMs: () => number = () => 0,
): void {
  let pending: Buffer = Buffer.alloc(0);
  let timer: NodeJS.Timeout | undefined;

  const takeAll = (): void => {
    timer = undefined;
    while (pending.length >= 2 && !socket.destroyed) {
      const length = pending.readUInt16BE(0);
      if (length === 0 || length > maxBytes) {
        socket.destroy();
        return;
      }
      if (pending.length < 2 + length) break;
      const waitMs = turnMs();
      if (waitMs > 0) {
        socket.pause();
        timer = setTimeout(takeAll, Math.ceil(waitMs));
        return;
      }
      const message = pending.subarray(2, 2 + length);
      pending = pending.subarray(2 + length);
      onMessage(message);
    }
    socket.resume();
  };

  socket.on('data', (chunk: Buffer) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    if (timer === undefined) takeAll();
  });
  socket.on('close', () => clearTimeout(timer));
}
