/** Record of one image: its configuration, and the repository that has it. */
import { z } from 'zod';
import type { Image } from '../../../control/ports/index.ts';
import { imageRecord } from '../../images/registry/record.ts';

export const placedRecord = imageRecord.extend({
  /** registry/repository */
  repository: z.string(),
  /** Complete names that stand for this image as long as the record is there. */
  names: z.array(z.string()),
});

export type PlacedRecord = z.infer<typeof placedRecord>;

/** @param reference The caller's own name, completed: one image can have several. */
export function toImage(record: PlacedRecord, reference: string): Image {
  const { digest, env, entrypoint, workingDir, sizeBytes, madeAt } = record;
  return { digest, reference, env, entrypoint, workingDir, sizeBytes, madeAt };
}
