/** Archive record of a row, validated on read. */
import { z } from 'zod';
import type { ArchiveRecord } from '../model/sandbox.ts';

const contents = {
  digest: z.string(),
  hmac: z.string(),
  sizeBytes: z.int(),
  keyId: z.string().exactOptional(),
};

const archive = z.discriminatedUnion('store', [
  z.strictObject({ store: z.literal('local'), ...contents }),
  z.strictObject({ store: z.literal('s3'), bucket: z.string(), key: z.string(), ...contents }),
]);

/** Rows from before archives had a place name none; theirs is this host. */
export const archiveSchema: z.ZodType<ArchiveRecord> = z.preprocess(
  (value) =>
    typeof value === 'object' && value !== null && !('store' in value) ? { store: 'local', ...value } : value,
  archive,
);
