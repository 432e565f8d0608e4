/**
 * Records of the data directory beside the database: the seal of the audit log's end, and counts of the day's
 * traffic.
 */
import { z } from 'zod';
import type { AuditCheckpoint, TrafficNotes } from '../control/ports/index.ts';
import { readIfThere, replaceFileAside } from './files/durable-file.ts';

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

/** Counts of the day's traffic, in a file of the data directory. A copy of the store leaves them behind. */
export function trafficNotes(file: string): TrafficNotes {
  return {
    read: () => readIfThere(file)?.toString() ?? null,
    write: (text) => replaceFileAside(file, Buffer.from(text)),
  };
}
