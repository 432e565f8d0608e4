/** Parts of the DNS wire format (RFC 1035, 6891) that queries and answers share, as far as the forwarder needs them. */
import type { Socket } from 'node:net';

export const recordTypes = { A: 1, AAAA: 28, OPT: 41, ANY: 255 } as const;
export const responseCodes = {
  ok: 0,
  malformed: 1,
  failed: 2,
  noSuchName: 3,
  notImplemented: 4,
  refused: 5,
} as const;

export const headerBytes = 12;
const maxNameBytes = 255;
const maxLabelBytes = 63;
/** QR, opcode, TC, RD in the header's second word. */
export const flag = {
  response: 0x8000,
  opcode: 0x7800,
  truncated: 0x0200,
  recursionDesired: 0x0100,
  recursionAvailable: 0x0080,
};

export function header(id: number, flags: number, answers: number, additionals: number): Buffer {
  const bytes = Buffer.alloc(headerBytes);
  for (const [i, word] of [id, flags, 1, answers, 0, additionals].entries()) bytes.writeUInt16BE(word, i * 2);
  return bytes;
}

export function counts(message: Buffer): [number, number, number, number] {
  return [
    message.readUInt16BE(4),
    message.readUInt16BE(6),
    message.readUInt16BE(8),
    message.readUInt16BE(10),
  ];
}

export function optRecord(udpBytes: number): Buffer {
  const record = Buffer.alloc(11);
  record.writeUInt16BE(recordTypes.OPT, 1);
  record.writeUInt16BE(udpBytes, 3);
  return record;
}

/** Returns the offset after a name, or null for no name. A pointer ends a name and must point back. */
export function skipName(message: Buffer, start: number, pointers: boolean): number | null {
  let at = start;
  while (at - start < maxNameBytes) {
    const length = message[at];
    if (length === undefined) return null;
    if (length === 0) return at + 1;
    if (length <= maxLabelBytes) {
      at += 1 + length;
      continue;
    }
    if (!pointers || length < 0xc0 || at + 2 > message.length) return null;
    const target = message.readUInt16BE(at) & 0x3fff;
    return target >= headerBytes && target < at ? at + 2 : null;
  }
  return null;
}

/** Over TCP, each message follows its length in two bytes. */
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
