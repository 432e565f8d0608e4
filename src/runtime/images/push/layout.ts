/** Reads an OCI image layout of one image: its manifest, and the files of its blobs. */
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';

export interface Blob {
  /** `sha256:` and 64 hexadecimal digits. */
  digest: string;
  size: number;
  file: string;
}

export interface LocalImage {
  manifest: { digest: string; mediaType: string; bytes: Buffer };
  /** Layers, then the configuration; each digest once. */
  blobs: Blob[];
}

const descriptor = z.object({
  mediaType: z.string(),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  size: z.number().int().nonnegative(),
});
const indexSchema = z.object({ manifests: z.array(descriptor).length(1) });
const manifestSchema = z.object({
  config: descriptor,
  layers: z.array(descriptor).max(limits.image.layers),
});

/** Fails with `failed_precondition` for a folder that holds no single image, or lacks one of its blobs. */
export async function readLocalImage(folder: string): Promise<LocalImage> {
  const index = indexSchema.safeParse(await readJson(join(folder, 'index.json'), folder));
  const [found] = index.data?.manifests ?? [];
  if (!found) throw unusable(folder, 'its index does not name one image');
  const bytes = await readSmall(blobFile(folder, found.digest), folder);
  if (digestOf(bytes) !== found.digest) throw unusable(folder, 'its manifest does not match its digest');
  const manifest = manifestSchema.safeParse(parse(bytes, folder));
  if (!manifest.success) throw unusable(folder, 'its manifest cannot be understood');
  const { config, layers } = manifest.data;
  const named = new Map([...layers, config].map((blob) => [blob.digest, blob]));
  const blobs = [...named.values()].map(({ digest, size }) => ({
    ...{ digest, size },
    file: blobFile(folder, digest),
  }));
  for (const { file, size } of blobs) {
    const there = await stat(file).catch(() => null);
    if (there?.size !== size) throw unusable(folder, 'a layer is missing, or not as long as it should be');
  }
  return { manifest: { digest: found.digest, mediaType: found.mediaType, bytes }, blobs };
}

function blobFile(folder: string, digest: string): string {
  return join(folder, 'blobs/sha256', digest.replace('sha256:', ''));
}

async function readJson(file: string, folder: string): Promise<unknown> {
  return parse(await readSmall(file, folder), folder);
}

async function readSmall(file: string, folder: string): Promise<Buffer> {
  const size = (await stat(file).catch(() => null))?.size;
  if (size === undefined) throw unusable(folder, 'it is not there, or is not whole');
  if (size > limits.image.configBytes) throw unusable(folder, 'one of its documents is too long');
  return readFile(file);
}

function parse(bytes: Buffer, folder: string): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    throw unusable(folder, 'one of its documents is not JSON');
  }
}

function unusable(folder: string, why: string): SandhavenError {
  return new SandhavenError('failed_precondition', `The image in ${folder} cannot be pushed: ${why}.`, {
    hint: 'Make it with `make images`, or name another folder with --from.',
  });
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
