/** Parts of the DNS wire format (RFC 1035, 6891) that queries and answers share, as far as the forwarder needs them. */

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
