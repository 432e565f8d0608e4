/** File `image.json` beside an unpacked root file system: the image's configuration, name, size and time. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Image } from '../../../control/ports/index.ts';

/** Lower-case hex of a SHA-256, so that it is a folder name without `:` (which overlay options cannot hold). */
export const digestPattern = /^[0-9a-f]{64}$/;

export const imageConfig = z.object({
  env: z.record(z.string(), z.string()),
  entrypoint: z.array(z.string()),
  cmd: z.array(z.string()),
  workingDir: z.string(),
  /** User from the image: a name or number, with or without a group; empty for root. */
  user: z.string(),
});

export const imageRecord = imageConfig.extend({
  digest: z.string().regex(digestPattern),
  reference: z.string(),
  sizeBytes: z.number().int().nonnegative(),
  /** Time at which its root file system was built or unpacked, in milliseconds since the epoch. */
  madeAt: z.number().int().nonnegative(),
});

export type ImageConfig = z.infer<typeof imageConfig>;
export type ImageRecord = z.infer<typeof imageRecord>;

/** Reads the record in this folder; null without the folder or file. Throws for a broken record. */
export async function readImageRecord(folder: string): Promise<ImageRecord | null> {
  const file = join(folder, 'image.json');
  let text: string;
  let madeAt: number;
  try {
    text = await readFile(file, 'utf8');
    // Fallback for records of older services, which wrote the file as soon as the image was finished.
    madeAt = Math.floor((await stat(file)).mtimeMs);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  return imageRecord.parse({ madeAt, ...JSON.parse(text) });
}

/** @param reference The caller's own name, completed: one image can have several. */
export function toImage(record: ImageRecord, reference: string): Image {
  const { digest, env, entrypoint, workingDir, sizeBytes, madeAt } = record;
  return { digest, reference, env, entrypoint, workingDir, sizeBytes, madeAt };
}
