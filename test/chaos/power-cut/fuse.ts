/** The few messages of FUSE that a file system of one file needs, as <linux/fuse.h> has them. */

export const opcodes = {
  getAttributes: 3,
  setAttributes: 4,
  open: 14,
  read: 15,
  write: 16,
  statFileSystem: 17,
  release: 18,
  sync: 20,
  flush: 25,
  init: 26,
  destroy: 38,
  allocate: 43,
} as const;

/** They get no answer. */
export const unanswered = new Set([2, 36, 42]);

export const IN_HEADER_BYTES = 40;
const OUT_HEADER_BYTES = 16;
export const MAX_WRITE_BYTES = 1 << 20;
const MAX_PAGES = MAX_WRITE_BYTES / 4096;

/** The rest of the file becomes zeros, and its size stays. */
export const PUNCH_HOLE = 3;

const BIG_WRITES = 1 << 5;
const ASYNC_DIRECT = 1 << 15;
const PAGES_NEGOTIATED = 1 << 22;

export interface Request {
  opcode: number;
  unique: bigint;
  body: Buffer;
}

export function parseRequest(message: Buffer): Request {
  return {
    opcode: message.readUInt32LE(4),
    unique: message.readBigUInt64LE(8),
    body: message.subarray(IN_HEADER_BYTES),
  };
}

/** @param errno 0 for success. */
export function answer(unique: bigint, errno: number, body: Buffer = Buffer.alloc(0)): Buffer {
  const header = Buffer.alloc(OUT_HEADER_BYTES);
  header.writeUInt32LE(OUT_HEADER_BYTES + body.length, 0);
  header.writeInt32LE(-errno, 4);
  header.writeBigUInt64LE(unique, 8);
  return Buffer.concat([header, body]);
}

export function initBody(): Buffer {
  const body = Buffer.alloc(64);
  body.writeUInt32LE(7, 0);
  body.writeUInt32LE(31, 4);
  body.writeUInt32LE(BIG_WRITES | ASYNC_DIRECT | PAGES_NEGOTIATED, 12);
  body.writeUInt16LE(64, 16);
  body.writeUInt16LE(48, 18);
  body.writeUInt32LE(MAX_WRITE_BYTES, 20);
  body.writeUInt32LE(1, 24);
  body.writeUInt16LE(MAX_PAGES, 28);
  return body;
}

export function attributesBody(size: number): Buffer {
  const body = Buffer.alloc(104);
  const attributes = body.subarray(16);
  attributes.writeBigUInt64LE(1n, 0);
  attributes.writeBigUInt64LE(BigInt(size), 8);
  attributes.writeBigUInt64LE(BigInt(Math.ceil(size / 512)), 16);
  attributes.writeUInt32LE(0o100600, 60);
  attributes.writeUInt32LE(1, 64);
  attributes.writeUInt32LE(4096, 80);
  return body;
}

export function fileSystemBody(): Buffer {
  const body = Buffer.alloc(80);
  body.writeUInt32LE(4096, 40);
  body.writeUInt32LE(255, 44);
  body.writeUInt32LE(4096, 48);
  return body;
}

export function writtenBody(bytes: number): Buffer {
  const body = Buffer.alloc(8);
  body.writeUInt32LE(bytes, 0);
  return body;
}

/** Of a read, a write and an allocation alike. */
export function rangeOf(body: Buffer): { offset: number; length: number } {
  return { offset: Number(body.readBigUInt64LE(8)), length: body.readUInt32LE(16) };
}

export const WRITE_HEADER_BYTES = 40;
