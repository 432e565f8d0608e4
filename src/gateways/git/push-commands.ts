/**
 * Reads a push's ref updates before the remote gets them: only the one branch that the caller named may change,
 * and it may not be deleted. A git inside that does something else cannot use the credentials for it.
 */
import type { Readable } from 'node:stream';

/** Exceeds the commands of any push of one branch; the pack begins after them. */
const MAX_BYTES = 64 * 1024;
const LENGTH_DIGITS = 4;
const command = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) ([^\0\n]+)(?:\0.*)?\n?$/s;
const shallow = /^shallow [0-9a-f]{40,64}\n?$/;

/**
 * Takes the commands off the stream. Returns the bytes read, to be sent first; null when they ask for anything
 * but an update of `ref`.
 */
export async function readPushCommands(body: Readable, ref: string): Promise<Buffer | null> {
  let read = Buffer.alloc(0);
  while (read.length <= MAX_BYTES) {
    const verdict = judge(read, ref);
    if (verdict !== 'more') return verdict === 'good' ? read : null;
    const chunk = await nextChunk(body);
    if (chunk === null) return null;
    read = Buffer.concat([read, chunk]);
  }
  return null;
}

type Verdict = 'good' | 'bad' | 'more';

/** Git's pkt-lines: four hexadecimal digits of length, themselves counted, then so many bytes; `0000` ends the list. */
export function judge(read: Buffer, ref: string): Verdict {
  for (let at = 0; ; ) {
    if (at + LENGTH_DIGITS > read.length) return 'more';
    const digits = read.toString('latin1', at, at + LENGTH_DIGITS);
    if (!/^[0-9a-f]{4}$/.test(digits)) return 'bad';
    const length = Number.parseInt(digits, 16);
    if (length === 0) return 'good';
    if (length <= LENGTH_DIGITS) return 'bad';
    if (at + length > read.length) return 'more';
    const line = read.toString('utf8', at + LENGTH_DIGITS, at + length);
    const [, , to = '', name] = command.exec(line) ?? [];
    if (!shallow.test(line) && (name !== ref || /^0+$/.test(to))) return 'bad';
    at += length;
  }
}

function nextChunk(body: Readable): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const take = () => {
      const chunk: Buffer | null = body.read();
      if (chunk === null && !body.readableEnded && !body.destroyed) return;
      for (const event of ['readable', 'end', 'close', 'error']) body.off(event, take);
      resolve(chunk);
    };
    for (const event of ['readable', 'end', 'close', 'error']) body.on(event, take);
    take();
  });
}
