/** Tar archives as nobody would write them: every field is the test's own. */
import { gzipSync } from 'node:zlib';

export interface TarEntry {
  name: string;
  /** A digit of the format; '0' is a file. */
  type?: string;
  link?: string;
  mode?: number;
  uid?: number;
  content?: Buffer | string;
  /** What the header says, whatever follows it. */
  size?: number;
  pax?: Record<string, string>;
}

const BLOCK = 512;

export function tar(entries: TarEntry[], { ended = true } = {}): Buffer {
  const blocks = entries.flatMap((entry) => {
    const extended = entry.pax ? [plain({ name: 'pax', type: 'x', content: records(entry.pax) })] : [];
    return [...extended, plain(entry)];
  });
  return Buffer.concat([...blocks, ...(ended ? [Buffer.alloc(2 * BLOCK)] : [])]);
}

export function tarGz(entries: TarEntry[]): Buffer {
  return gzipSync(tar(entries), { level: 1 });
}

/** One header block. */
export function header({ name, type = '0', link = '', mode = 0o644, uid = 0, size = 0 }: TarEntry): Buffer {
  const block = Buffer.alloc(BLOCK);
  block.write(name, 0, 100, 'latin1');
  block.write(octal(mode, 7), 100);
  block.write(octal(uid, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(1_000_000_000, 11), 136);
  block.write(type, 156);
  block.write(link, 157, 100, 'latin1');
  block.write('ustar\x0000', 257, 'latin1');
  block.write(' '.repeat(8), 148);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)}\0 `, 148, 'latin1');
  return block;
}

function plain(entry: TarEntry): Buffer {
  const content = Buffer.from(entry.content ?? '');
  const padding = Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK);
  return Buffer.concat([header({ ...entry, size: entry.size ?? content.length }), content, padding]);
}

function records(pax: Record<string, string>): string {
  return Object.entries(pax)
    .map(([key, value]) => {
      const rest = ` ${key}=${value}\n`;
      const bytes = Buffer.byteLength(rest);
      let length = bytes + 1;
      while (length !== bytes + String(length).length) length = bytes + String(length).length;
      return `${length}${rest}`;
    })
    .join('');
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}
