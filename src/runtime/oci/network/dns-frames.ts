/** DNS over TCP: each message after its length in two bytes. */
import type { Socket } from 'node:net';

export function frame(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}

/** Calls `onMessage` for each; a message over `maxBytes`, or an empty one, ends the connection. */
export function readFrames(socket: Socket, maxBytes: number, onMessage: (message: Buffer) => void): void {
  let pending: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk]);
    while (pending.length >= 2 && !socket.destroyed) {
      const length = pending.readUInt16BE(0);
      if (length === 0 || length > maxBytes) {
        socket.destroy();
        return;
      }
      if (pending.length < 2 + length) return;
      const message = pending.subarray(2, 2 + length);
      pending = pending.subarray(2 + length);
      onMessage(message);
    }
  });
}
