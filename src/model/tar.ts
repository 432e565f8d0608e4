/**
 * Tar streams of files, folders and links, in the form of POSIX ustar with pax records. One that is read is hostile: nothing is
 * kept in memory but one piece and the names of one entry. Source: POSIX.1-2024, pax, "ustar Interchange Format".
 */
import { invalidArgument, SandhavenError } from './errors.ts';
import { limits } from './limits.ts';
import { StreamPieces } from './stream-pieces.ts';

export interface TarEntry {
  path: string;
  type: 'file' | 'folder' | 'link' | 'hardlink';
  /** The low twelve bits. */
  mode: number;
  uid: number;
  gid: number;
  /** Seconds since the epoch. */
  mtime: number;
  /** Of a file; else 0. */
  size: number;
  /** Of a link; else empty. */
  target: string;
}

const BLOCK = 512;
/** Longest pax header: two paths, and what nobody needs. */
const EXTENDED_BYTES = 64 * 1024;

/**
 * Entries of other kinds, such as devices, are left out. Content that is not read is skipped.
 * @param mostBytes Of the whole stream; more reject with `too_large`.
 */
export async function* readTar(
  stream: AsyncIterable<Uint8Array>,
  mostBytes: number,
): AsyncGenerator<{ entry: TarEntry; content: AsyncIterable<Buffer> }> {
  const source = new StreamPieces(bounded(stream, mostBytes), () => broken('it ends too early'));
  try {
    let given: Extended = {};
    for (;;) {
      const header = await source.exactly(BLOCK);
      if (header.every((byte) => byte === 0)) return await source.readOut(mostBytes, tooLong);
      const type = checkedType(header);
      const size = given.size ?? numberAt(header, 124, 12);
      const padding = (BLOCK - (size % BLOCK)) % BLOCK;
      if (extensions.has(type)) {
        if (size > EXTENDED_BYTES) throw broken('the header of an entry is too long');
        const text = (await source.exactly(size)).toString();
        await source.exactly(padding);
        given = extended(type, text, given);
        continue;
      }
      const entry = entryOf(header, type, size, given);
      given = {};
      const content = source.pieces(size);
      if (entry) yield { entry, content };
      for await (const _piece of content);
      await source.exactly(padding);
    }
  } finally {
    await source.close();
  }
}

const types: Record<string, TarEntry['type']> = {
  ...{ '0': 'file', '\0': 'file', '7': 'file', '1': 'hardlink', '2': 'link', '5': 'folder' },
};

interface Extended {
  path?: string;
  target?: string;
  size?: number;
}

/** Records of pax for the next entry and for all, and GNU's long names and targets. */
const extensions: ReadonlySet<string> = new Set(['x', 'g', 'L', 'K']);

function extended(type: string, text: string, given: Extended): Extended {
  if (type === 'g') return given;
  if (type === 'L') return { ...given, path: text.replace(/\0.*$/s, '') };
  if (type === 'K') return { ...given, target: text.replace(/\0.*$/s, '') };
  const found: Record<string, string> = {};
  for (let at = 0; at < text.length; ) {
    const [whole, digits = '', key = ''] = /^(\d{1,6}) ([^=]{1,64})=/.exec(text.slice(at, at + 80)) ?? [];
    if (whole === undefined) throw broken('a record of pax cannot be read');
    const bytes = Buffer.from(text.slice(at)).subarray(0, Number(digits)).toString();
    if (key.startsWith('GNU.sparse.')) throw broken('it has a file with holes', 'Pack it without --sparse.');
    found[key] = bytes.slice(whole.length, -1);
    at += Math.max(bytes.length, 1);
  }
  const size = found['size'] === undefined ? undefined : Number(found['size']);
  if (size !== undefined && !(Number.isSafeInteger(size) && size >= 0)) throw broken('a size is invalid');
  return {
    ...given,
    ...(found['path'] === undefined ? {} : { path: found['path'] }),
    ...(found['linkpath'] === undefined ? {} : { target: found['linkpath'] }),
    ...(size === undefined ? {} : { size }),
  };
}

function entryOf(header: Buffer, flag: string, size: number, given: Extended): TarEntry | null {
  const [name, prefix] = [textAt(header, 0, 100), textAt(header, 345, 155)];
  const isUstar = textAt(header, 257, 6) === 'ustar';
  const path = given.path ?? (isUstar && prefix !== '' ? `${prefix}/${name}` : name);
  const target = given.target ?? textAt(header, 157, 100);
  // Before POSIX, a slash was all that made a folder.
  const type = types[flag] === 'file' && path.endsWith('/') ? 'folder' : types[flag];
  if (flag === 'S') throw broken('it has a file with holes', 'Pack it without --sparse.');
  if (type === undefined) return null;
  if (
    Math.max(Buffer.byteLength(path), Buffer.byteLength(target)) > limits.build.pathBytes ||
    /\0/.test(path + target)
  )
    throw broken(`a path is longer than ${limits.build.pathBytes} bytes, or invalid`);
  const [mode, uid, gid] = [numberAt(header, 100, 8), numberAt(header, 108, 8), numberAt(header, 116, 8)];
  const mtime = numberAt(header, 136, 12);
  const isLink = type === 'link' || type === 'hardlink';
  return {
    path,
    type,
    mode: mode & 0o7777,
    uid,
    gid,
    mtime,
    size: type === 'file' ? size : 0,
    target: isLink ? target : '',
  };
}

function checkedType(header: Buffer): string {
  if (numberAt(header, 148, 8) !== sumOf(header)) throw broken('a header is broken');
  return String.fromCharCode(header[156] ?? 0);
}

function numberAt(header: Buffer, at: number, length: number): number {
  const first = header[at] ?? 0;
  // GNU's form of large numbers; negative times are the beginning of time.
  if (first === 0xff) return 0;
  if (first === 0x80) {
    const large = Number(header.readBigUInt64BE(at + length - 8));
    if (!Number.isSafeInteger(large)) throw broken('a number is invalid');
    return large;
  }
  const text = textAt(header, at, length).trim();
  if (!/^[0-7]*$/.test(text)) throw broken('a number is invalid');
  return text === '' ? 0 : Number.parseInt(text, 8);
}

function textAt(header: Buffer, at: number, length: number): string {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? length : end);
}

function sumOf(header: Buffer): number {
  let sum = 0;
  for (const [at, byte] of header.entries()) sum += at >= 148 && at < 156 ? 0x20 : byte;
  return sum;
}

function broken(reason: string, hint = 'Send a whole tar stream, not compressed.'): Error {
  return invalidArgument('body', `The body is not a tar stream that can be read: ${reason}.`, hint);
}

async function* bounded(stream: AsyncIterable<Uint8Array>, mostBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of stream) {
    bytes += piece.length;
    if (bytes > mostBytes) throw tooLong();
    yield piece;
  }
}

const tooLong = () =>
  new SandhavenError('too_large', 'The tar stream is longer than any that is taken.', {
    hint: 'Leave out what is not needed.',
  });

/** Ends a tar stream. */
export const tarEnd = (): Buffer => Buffer.alloc(2 * BLOCK);

/** Returns what comes after so many bytes of a file. */
export const tarPadding = (size: number): Buffer => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);

/** Returns the header of an entry; long names, and large sizes, as pax records before it. */
export function tarHeader(entry: TarEntry): Buffer {
  const { path, target, size, type } = entry;
  const records = [
    ...(Buffer.byteLength(path) > 100 ? [recordOf('path', path)] : []),
    ...(Buffer.byteLength(target) > 100 ? [recordOf('linkpath', target)] : []),
    ...(size > OCTAL_MAX ? [recordOf('size', String(size))] : []),
  ];
  const header = block(entry, { file: '0', hardlink: '1', link: '2', folder: '5' }[type]);
  if (records.length === 0) return header;
  const body = Buffer.from(records.join(''));
  const before = block({ ...entry, path: 'pax', target: '', mode: 0o644, size: body.length }, 'x');
  return Buffer.concat([before, body, tarPadding(body.length), header]);
}

/** Largest size in eleven octal digits. */
const OCTAL_MAX = 0o77777777777;

function block({ path, mode, uid, gid, size, mtime, target }: TarEntry, flag: string): Buffer {
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, digits: number) =>
    header.write(
      `${Math.min(value, 8 ** digits - 1)
        .toString(8)
        .padStart(digits, '0')}\0`,
      at,
      'latin1',
    );
  header.write(path, 0, 100);
  octal(mode, 100, 7);
  octal(uid, 108, 7);
  octal(gid, 116, 7);
  octal(size > OCTAL_MAX ? 0 : size, 124, 11);
  octal(Math.max(0, Math.floor(mtime)), 136, 11);
  header.write(flag, 156, 'latin1');
  header.write(target, 157, 100);
  header.write('ustar\x0000', 257, 'latin1');
  header.write(`${sumOf(header).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}

/** A record begins with its own length, in bytes. */
function recordOf(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  const digits = String(bytes + String(bytes).length).length;
  return `${bytes + digits}${rest}`;
}
