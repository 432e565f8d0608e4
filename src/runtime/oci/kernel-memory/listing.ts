/** Reads tables of /proc whose length a machine decides: line by line, a bounded part of them. */
import { open } from 'node:fs/promises';
import { unlessMissing } from '../files.ts';

const CHUNK_BYTES = 64 * 1024;

/** Gives `use` the fields of each line; of a table that is not there, or goes away meanwhile, what there was. */
export async function eachLine(
  path: string,
  maxBytes: number,
  use: (fields: string[]) => void,
): Promise<void> {
  const file = await unlessMissing(open(path, 'r'));
  if (!file) return;
  try {
    const buffer = Buffer.alloc(CHUNK_BYTES);
    let rest = '';
    for (let total = 0; total < maxBytes; ) {
      const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, null).catch(ended);
      if (bytesRead === 0) return;
      total += bytesRead;
      const lines = (rest + buffer.toString('latin1', 0, bytesRead)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) use(line.trim().split(/\s+/));
    }
  } finally {
    await file.close();
  }
}

/** The process whose table it was has ended. */
function ended(error: NodeJS.ErrnoException): { bytesRead: number } {
  if (error.code === 'ESRCH' || error.code === 'EINVAL') return { bytesRead: 0 };
  throw error;
}
