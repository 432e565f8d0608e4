/** End of the audit chain in a file of its own, which reveals rows removed from the end of the table. */
import { z } from 'zod';
import type { AuditCheckpoint } from '../control/ports/index.ts';
import { readIfThere, replaceFileAside } from './durable-file.ts';

const hex = z.string().regex(/^[0-9a-f]{64}$/);
const content = z.strictObject({ sequence: z.int().min(0), hash: hex, seal: hex });

export function auditCheckpointFile(file: string): AuditCheckpoint {
  return {
    async read() {
      const parsed = content.safeParse(jsonOf(readIfThere(file)));
      if (!parsed.success) return null;
      const { sequence, hash, seal } = parsed.data;
      return { sequence, hash: Buffer.from(hash, 'hex'), seal: Buffer.from(seal, 'hex') };
    },
    async write({ sequence, hash, seal }) {
      const text = JSON.stringify({ sequence, hash: hash.toString('hex'), seal: seal.toString('hex') });
      await replaceFileAside(file, Buffer.from(`${text}\n`));
    },
  };
}

function jsonOf(bytes: Buffer | null): unknown {
  try {
    return JSON.parse(bytes?.toString() ?? '');
  } catch {
    return null;
  }
}
