/**
 * Multipart forms (RFC 7578, RFC 8187), part by part: read as their bytes come, of which nothing is kept, and written as fast
 * as their reader takes them.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { invalidArgument, SandhavenError } from '../model/errors.ts';

export interface Part {
  name: string;
  /** As it stands; undefined for a field without one. */
  filename?: string | undefined;
  /** Ends before the next part; bytes that nobody has read by then are passed over. */
  content: AsyncGenerator<Buffer, void>;
}

export interface PartHead {
  name: string;
  filename: string;
  type: string;
  /** Unknown without it. */
  length?: number;
}

/** Parts of one body. */
const MOST_PARTS = 20_000;
/** Headers of one part; also what may stand before the first. */
const HEAD_BYTES = 16 * 1024;

const LINE_END = Buffer.from('\r\n');
const HEAD_END = Buffer.from('\r\n\r\n');

/** Returns the boundary of a multipart form; null for a body of another type. */
export function boundaryOf(contentType: string | undefined): string | null {
  if (!contentType || !/^multipart\/form-data\s*;/i.test(contentType)) return null;
  // The RFC allows 70 characters.
  const [, quoted, plain] =
    /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70})(?![^\s;]))/i.exec(contentType) ?? [];
  return quoted ?? plain ?? null;
}

/**
 * Rejects when the body is no multipart form, or ends in the middle of one. Leaves `body` open, since it may be a request
 * whose answer is still to be written.
 */
export async function* partsOf(body: Readable, boundary: string): AsyncGenerator<Part, void> {
  const source = new Source(body);
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  try {
    await collected(new Section(source, delimiter).pieces(), HEAD_BYTES, 'What stands before the first part');
    for (let parts = 0; ; parts++) {
      const mark = await source.take(LINE_END.length);
      if (mark.toString('latin1') === '--') return;
      if (!mark.equals(LINE_END))
        throw invalidArgument('body', 'A part of the multipart body has no beginning.');
      if (parts === MOST_PARTS) throw tooLarge(`The multipart body has over ${MOST_PARTS} parts.`);
      const head = await collected(new Section(source, HEAD_END).pieces(), HEAD_BYTES, 'The head of a part');
      const section = new Section(source, delimiter);
      const text = head.toString('utf8');
      yield { name: nameOf(text), filename: parameterOf(text, 'filename'), content: section.pieces() };
      await section.passOver();
    }
  } finally {
    source.leave();
  }
}

/** Returns the content of a part as text. */
export async function textOf({ name, content }: Part, mostBytes: number): Promise<string> {
  return (await collected(content, mostBytes, name)).toString('utf8');
}

export class MultipartWriter {
  /** Of the whole form. */
  readonly type: string;
  readonly #to: Writable;
  readonly #signal: AbortSignal;
  /** Too long for any content to hold it by chance. */
  readonly #boundary = `part-${randomBytes(24).toString('hex')}`;

  /** @param signal Aborted when the reader has gone. */
  constructor(to: Writable, signal: AbortSignal) {
    this.#to = to;
    this.#signal = signal;
    this.type = `multipart/form-data; boundary=${this.#boundary}`;
  }

  /** Rejects when the content is shorter than its announced length; of a longer one only that is written. */
  async part(head: PartHead, content: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<void> {
    await this.#write(`--${this.#boundary}\r\n${headOf(head)}`);
    let left = head.length ?? Number.POSITIVE_INFINITY;
    for await (const chunk of content) {
      const piece = chunk.length > left ? chunk.subarray(0, left) : chunk;
      left -= piece.length;
      await this.#write(piece);
      if (left === 0) break;
    }
    if (head.length !== undefined && left > 0) {
      throw new SandhavenError('unavailable', 'The content of a part is shorter than announced.');
    }
    await this.#write('\r\n');
  }

  async end(): Promise<void> {
    await this.#write(`--${this.#boundary}--\r\n`);
  }

  async #write(bytes: Buffer | string): Promise<void> {
    if (!this.#to.write(bytes)) await once(this.#to, 'drain', { signal: this.#signal });
  }
}

async function collected(content: AsyncGenerator<Buffer>, mostBytes: number, what: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of content) {
    length += piece.length;
    if (length > mostBytes) throw tooLarge(`${what} has over ${mostBytes} bytes.`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Bytes up to an end mark, which belongs to it. */
class Section {
  readonly #source: Source;
  readonly #end: Buffer;
  #isOpen = true;

  constructor(source: Source, end: Buffer) {
    this.#source = source;
    this.#end = end;
  }

  /** May be called again for what is left, also while a reader that was left still waits for bytes. */
  async *pieces(): AsyncGenerator<Buffer, void> {
    while (this.#isOpen) {
      const { piece, isLast } = this.#source.upTo(this.#end);
      if (isLast) this.#isOpen = false;
      if (piece.length > 0) yield piece;
      else if (!isLast) await this.#source.more();
    }
  }

  async passOver(): Promise<void> {
    const rest = this.pieces();
    while (!(await rest.next()).done);
  }
}

/** Bytes of the body that have come and are not read. */
class Source {
  readonly #chunks: NodeJS.AsyncIterator<Buffer>;
  /** Begins with the line end that stands before every delimiter but the first. */
  #held: Buffer = LINE_END;
  /** Shared by those who wait. */
  #coming: Promise<void> | null = null;

  constructor(body: Readable) {
    this.#chunks = body.iterator({ destroyOnReturn: false });
  }

  /** Returns bytes before the end mark, which it takes when they are the last. */
  upTo(end: Buffer): { piece: Buffer; isLast: boolean } {
    const at = this.#held.indexOf(end);
    if (at >= 0) return { piece: this.#cut(at, end.length), isLast: true };
    // The rest may be the beginning of the mark.
    return { piece: this.#cut(Math.max(0, this.#held.length - end.length + 1)), isLast: false };
  }

  async take(bytes: number): Promise<Buffer> {
    while (this.#held.length < bytes) await this.more();
    return this.#cut(bytes);
  }

  more(): Promise<void> {
    this.#coming ??= this.#next().finally(() => {
      this.#coming = null;
    });
    return this.#coming;
  }

  leave(): void {
    void this.#chunks.return?.().catch(() => {});
  }

  #cut(bytes: number, andSkipped = 0): Buffer {
    const piece = this.#held.subarray(0, bytes);
    this.#held = this.#held.subarray(bytes + andSkipped);
    return piece;
  }

  async #next(): Promise<void> {
    const { value, done } = await this.#chunks.next();
    if (done) throw invalidArgument('body', 'The multipart body ends before its last boundary.');
    this.#held = this.#held.length === 0 ? value : Buffer.concat([this.#held, value]);
  }
}

function tooLarge(detail: string): SandhavenError {
  return new SandhavenError('too_large', detail, { parameter: 'body' });
}

/** Returns the name of a part's field. */
export function nameOf(head: string): string {
  const name = parameterOf(head, 'name');
  if (name !== undefined) return name;
  throw invalidArgument('body', 'A part of the multipart body has no name.');
}

function parameterOf(head: string, wanted: string): string | undefined {
  const disposition = head.split('\r\n').find((line) => /^content-disposition:\s*form-data\s*;/i.test(line));
  const parameters = disposition?.matchAll(/;\s*([\w*-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g) ?? [];
  for (const [, parameter = '', quoted, plain = ''] of parameters) {
    if (parameter.toLowerCase() === wanted) return quoted?.replaceAll(/\\(["\\])/g, '$1') ?? plain;
  }
  return undefined;
}

function headOf({ name, filename, type, length }: PartHead): string {
  return [
    `Content-Disposition: form-data; name="${name}"; ${filenameOf(filename)}`,
    `Content-Type: ${type}`,
    ...(length === undefined ? [] : [`Content-Length: ${length}`]),
    '\r\n',
  ].join('\r\n');
}

/** Old readers know the quoted form alone, and others read only ASCII in it: they know the encoded one, which counts before it. */
function filenameOf(filename: string): string {
  const quoted = `filename="${filename.replaceAll(/["\\]/g, '\\$&').replaceAll(/\p{Cc}/gu, '_')}"`;
  if (/^[\w ./@+=,~-]*$/.test(filename)) return quoted;
  const encoded = encodeURIComponent(filename.toWellFormed());
  const strict = encoded.replaceAll(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  return `${quoted}; filename*=utf-8''${strict}`;
}
