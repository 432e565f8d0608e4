/** Archives of a test, and spools in memory for what becomes of them. */
import type { OpenSpool } from '../../../src/control/ports/index.ts';
import { type TarEntry, tarEnd, tarHeader, tarPadding } from '../../../src/model/tar.ts';

/** By path: the text of a file, or what is to be different of one. */
export type Given = Record<string, string | Partial<TarEntry>>;

export async function* tarOf(files: Given): AsyncGenerator<Buffer> {
  for (const [path, given] of Object.entries(files)) {
    const text = typeof given === 'string' ? given : '';
    const usual: TarEntry = {
      ...{ path, type: 'file', mode: 0o644, uid: 5, gid: 5, mtime: 9, size: text.length, target: '' },
    };
    yield tarHeader(typeof given === 'string' ? usual : { ...usual, ...given });
    yield Buffer.from(text);
    yield tarPadding(text.length);
  }
  yield tarEnd();
}

export function memorySpools(): { open: OpenSpool; readonly count: number } {
  let count = 0;
  return {
    get count() {
      return count;
    },
    async open() {
      const pieces: Buffer[] = [];
      count += 1;
      return {
        async write(piece) {
          // The caller's own again afterwards.
          pieces.push(Buffer.from(piece));
        },
        async *read(at, length) {
          yield Buffer.concat(pieces).subarray(at, at + length);
        },
        async close() {
          count -= 1;
        },
      };
    },
  };
}
