/**
 * A program: lays itself over a disk image, and writes down every write and every flush that reaches it, with
 * its time. What a loop device, and so a disk, is told is then known exactly.
 *
 *     recorder.ts IMAGE LOG
 */
import { spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import {
  answer,
  attributesBody,
  fileSystemBody,
  IN_HEADER_BYTES,
  initBody,
  MAX_WRITE_BYTES,
  opcodes,
  PUNCH_HOLE,
  parseRequest,
  type Request,
  rangeOf,
  unanswered,
  WRITE_HEADER_BYTES,
  writtenBody,
} from './fuse.ts';
import { encodeEntry, kinds } from './log.ts';

const ENOSYS = 38;
const EOPNOTSUPP = 95;
const ATTEMPTS = 2_000;

const [image = '', log = ''] = process.argv.slice(2);
const device = openSync('/dev/fuse', 'r+');
const disk = openSync(image, 'r+');
const record = openSync(log, 'w');
const options = 'fd=3,rootmode=100600,user_id=0,group_id=0';
spawn('mount', ['-i', '-t', 'fuse', '-o', options, 'recorder', image], {
  stdio: ['ignore', 'inherit', 'inherit', device],
});
serve();
closeSync(record);

/** One request after another, until the image is unmounted. Nothing else runs in this process. */
function serve(): void {
  const message = Buffer.alloc(MAX_WRITE_BYTES + 2 * 4096);
  let attempts = 0;
  for (;;) {
    let bytes: number;
    try {
      bytes = readSync(device, message, 0, message.length, null);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENODEV') return;
      // Not mounted yet; or a request that was taken back.
      if (code === 'ENOENT' || code === 'EINTR') continue;
      if (code !== 'EPERM' || attempts++ > ATTEMPTS) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      continue;
    }
    if (bytes < IN_HEADER_BYTES) continue;
    const request = parseRequest(message.subarray(0, bytes));
    if (unanswered.has(request.opcode)) continue;
    writeSync(device, reply(request));
    if (request.opcode === opcodes.destroy) return;
  }
}

function reply({ opcode, unique, body }: Request): Buffer {
  switch (opcode) {
    case opcodes.init:
      return answer(unique, 0, initBody());
    case opcodes.getAttributes:
    case opcodes.setAttributes:
      return answer(unique, 0, attributesBody(fstatSync(disk).size));
    case opcodes.open:
      return answer(unique, 0, Buffer.alloc(16));
    case opcodes.statFileSystem:
      return answer(unique, 0, fileSystemBody());
    case opcodes.read:
      return answer(unique, 0, read(body));
    case opcodes.write:
      return answer(unique, 0, write(body));
    case opcodes.sync:
      note(kinds.flush, 0, Buffer.alloc(0));
      return answer(unique, 0);
    case opcodes.allocate:
      return answer(unique, discard(body));
    case opcodes.release:
    case opcodes.flush:
    case opcodes.destroy:
      return answer(unique, 0);
    default:
      return answer(unique, ENOSYS);
  }
}

function read(body: Buffer): Buffer {
  const { offset, length } = rangeOf(body);
  const data = Buffer.alloc(length);
  const bytes = readSync(disk, data, 0, length, offset);
  return data.subarray(0, bytes);
}

function write(body: Buffer): Buffer {
  const { offset, length } = rangeOf(body);
  const data = body.subarray(WRITE_HEADER_BYTES, WRITE_HEADER_BYTES + length);
  writeSync(disk, data, 0, length, offset);
  note(kinds.write, offset, data);
  return writtenBody(length);
}

/** A discarded range is noted as zeros, which a disk may or may not have kept at the cut. */
function discard(body: Buffer): number {
  const offset = Number(body.readBigUInt64LE(8));
  const length = Number(body.readBigUInt64LE(16));
  if (body.readUInt32LE(24) !== PUNCH_HOLE || length > 64 * MAX_WRITE_BYTES) return EOPNOTSUPP;
  for (let done = 0; done < length; done += MAX_WRITE_BYTES) {
    const zeros = Buffer.alloc(Math.min(MAX_WRITE_BYTES, length - done));
    writeSync(disk, zeros, 0, zeros.length, offset + done);
    note(kinds.write, offset + done, zeros);
  }
  return 0;
}

function note(kind: number, offset: number, data: Buffer): void {
  writeSync(record, encodeEntry({ at: process.hrtime.bigint(), kind, offset, data }));
}
